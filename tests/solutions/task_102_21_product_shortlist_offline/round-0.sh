# First attempt: takes the listing's word on USB-C, and does not write down the method.
ls clawbench/sources/catalog
#---
mkdir -p results
python3 <<'PY'
import json
from pathlib import Path

taken, rejected = [], []
for file in sorted(Path("clawbench/sources/catalog").glob("M*.json")):
    product = json.loads(file.read_text(encoding="utf-8"))
    listing, detail = product["listing"], product["detail"]
    new_price = detail.get("new_price", detail["price"])
    wrong = []
    if not 26 <= detail["size_in"] <= 28:
        wrong.append(f"wrong size: {detail['size_in']} inch (detail.size_in)")
    if detail["resolution"] != "3840x2160":
        wrong.append(f"not true 4K: {detail['resolution']} (detail.resolution)")
    if listing["usb_c"] != "yes":
        wrong.append("no USB-C")
    if detail["price_type"] != "new_direct":
        wrong.append(f"not a new direct price: {detail['price_type']} (detail.price_type)")
    if new_price > 500:
        wrong.append(f"over budget: new price {new_price:g} (detail.price)")
    if not detail["ships_to_us"]:
        wrong.append("does not ship to the US (detail.ships_to_us)")
    if detail["availability"] == "out_of_stock":
        wrong.append("out of stock (detail.availability)")
    if wrong:
        rejected.append({"id": product["id"], "title": product["title"], "reasons": wrong})
    else:
        taken.append({"id": product["id"], "title": product["title"], "price": detail["price"]})
Path("results/monitor_shortlist.json").write_text(json.dumps(taken, indent=2), encoding="utf-8")
Path("results/monitor_rejections.json").write_text(json.dumps(rejected, indent=2), encoding="utf-8")
print(len(taken), "taken,", len(rejected), "rejected")
PY
#: I went through the catalog; the shortlist and the rejections with their reasons are in results.
