# 头一次做：包和清单都对，统计把作废的也算进去了，缓存还没清。
curl -sSf localhost:8034/api/versions; curl -sSf localhost:8034/raw/3/niandu-guidang
#--- 缓存一页
curl -sSf localhost:8034/raw/3/huancun; find sources/shuju -type f | sort
#--- 打包和清单
mkdir -p results
tar czf results/2023.tar.gz -C sources/shuju 2023-jieyue
python3 - <<'PY'
import csv, hashlib, json
from pathlib import Path

root = Path("sources/shuju")
files = sorted((root / "2023-jieyue").glob("*.csv"))
with open("results/manifest.csv", "w", encoding="utf-8", newline="") as out:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["文件", "字节", "sha256"])
    for file in files:
        data = file.read_bytes()
        writer.writerow([file.relative_to(root).as_posix(), len(data), hashlib.sha256(data).hexdigest()])
counts = {file.stem: len(file.read_text(encoding="utf-8").splitlines()) - 1 for file in files}
counts["total"] = sum(counts.values())
Path("results/stats.json").write_text(json.dumps(counts), encoding="utf-8")
PY
cat results/manifest.csv results/stats.json
#: 2023 年的包、清单和统计都放在 results/ 里了，缓存还没清。
