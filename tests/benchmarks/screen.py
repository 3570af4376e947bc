"""What screening a message costs, by the size of the hidden material.

    python -m tests.benchmarks.screen [--messages N] [--fork]

Messages are the bundled probes, clean and leaking; hidden material is made of rules, values and
records from a seeded generator, 20, 200 and 2,000 kB of it. The floor is a plain search of every
word of the message in the same hidden text, in the same run. `--fork` also times forks against
Docker's own commit, create and start. Ends with one line of JSON.
"""

import argparse
import json
import random
import re
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from uniclaw.assets import Assets, default_roots
from uniclaw.firewall.material import HiddenMaterial
from uniclaw.firewall.policy import load_policy
from uniclaw.firewall.screening import Screen
from uniclaw.hidden.rubric import LoadedRubric, Rubric
from uniclaw.records import Brief, Progress

SIZES_KB = (20, 200, 2_000)
LIMIT_MS = 20.0
"""At 200 kB of hidden material, after the index is made."""
GROWTH_LIMIT = 10.0
"""Ten times the material, at most ten times the time."""
VISIBLE_BYTES = 20_000
WORDS = 6_000


class Probe(NamedTuple):
    """A message with what was visible when it was written."""

    message: str
    visible: tuple[str, ...]


def probes(count: int, seed: int) -> list[Probe]:
    """Bundled probes in both languages, drawn with a seed."""
    assets = Assets(default_roots(None))
    lines = [
        json.loads(line)
        for name in ("office.en.jsonl", "office.zh.jsonl")
        for line in assets.read_text(f"firewall/probes/{name}").splitlines()
    ]
    drawn = random.Random(seed).sample(lines, min(count, len(lines)))
    return [Probe(line["message"], tuple(line.get("visible", ()))) for line in drawn]


def _vocabulary(rng: random.Random) -> list[str]:
    parts = re.findall("..", "bakelimonurasetivozuanerilorun")
    return ["".join(rng.choices(parts, k=rng.randint(2, 4))) for _ in range(WORDS)]


def hidden_texts(kilobytes: int, seed: int) -> tuple[str, dict[str, object]]:
    """Rules as prose (a tenth) and records with values (the rest), of about that size."""
    rng = random.Random(seed)
    words = _vocabulary(rng)
    rules: list[str] = []
    while sum(map(len, rules)) < kilobytes * 100:
        rules.append(" ".join(rng.choices(words, k=14)).capitalize() + ".")
    records: list[dict[str, object]] = []
    size = 0
    while size < kilobytes * 900:
        record: dict[str, object] = {
            "name": f"{rng.choice(words).title()} {rng.choice(words).title()}",
            "amount": round(rng.uniform(1, 1e6), 2),
            "date": f"20{rng.randint(10, 29)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
            "id": f"{rng.choice('ABCDEF')}{rng.choice('XYZ')}-{rng.randint(1000, 99999)}",
            "note": " ".join(rng.choices(words, k=10)),
        }
        records.append(record)
        size += len(json.dumps(record))
    return "\n".join(rules), {"records": records}


def screen_of(directory: Path, kilobytes: int, seed: int) -> tuple[Screen, str, float]:
    """A screen over that much hidden material, the material as text, and the index's seconds."""
    rules, data = hidden_texts(kilobytes, seed)
    (directory / "references").mkdir(parents=True)
    file = directory / "references" / "truth.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    rubric = Rubric.model_validate(
        {
            "threshold": 0.9,
            "checkpoints": [
                {"id": "all", "weight": 1.0, "description": "Right.", "check": {"kind": "judge"}}
            ],
            "references": ["references/truth.json"],
            "secrets": rules.split("\n"),
        }
    )
    loaded = LoadedRubric(rubric=rubric, root=directory, source="native", reference_root=directory)
    policy = load_policy("coarse", Assets(default_roots(None)))
    began = time.perf_counter()
    material = HiddenMaterial.of(loaded, policy)
    screen = Screen(material, public=["Please sort it out."], brief=Brief(), policy=policy)
    seconds = time.perf_counter() - began
    return screen, f"{rules}\n{json.dumps(data)}".casefold(), seconds


def plain_search(message: str, hidden: str) -> int:
    """The floor: every word of the message, looked up by `in`."""
    return sum(word in hidden for word in re.findall(r"\w+", message.casefold()))


def measure(kilobytes: int, asked: Sequence[Probe]) -> dict[str, float]:
    """Milliseconds per message at one size."""
    filler = " ".join(_vocabulary(random.Random(9)))[:VISIBLE_BYTES]
    with tempfile.TemporaryDirectory() as name:
        screen, hidden, index_s = screen_of(Path(name), kilobytes, seed=kilobytes)
        spent: list[float] = []
        floor: list[float] = []
        for probe in asked:
            began = time.perf_counter()
            screen.check(probe.message, visible=(*probe.visible, filler), progress=Progress())
            middle = time.perf_counter()
            plain_search(probe.message, hidden)
            spent.append(middle - began)
            floor.append(time.perf_counter() - middle)
    return {
        "kilobytes": kilobytes,
        "index_s": round(index_s, 3),
        "median_ms": round(statistics.median(spent) * 1e3, 3),
        "mean_ms": round(statistics.fmean(spent) * 1e3, 3),
        "p95_ms": round(statistics.quantiles(spent, n=20)[-1] * 1e3, 3),
        "floor_median_ms": round(statistics.median(floor) * 1e3, 3),
        "ratio": round(statistics.median(spent) / statistics.median(floor), 2),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=60)
    parser.add_argument("--fork", action="store_true")
    given = parser.parse_args()
    asked = probes(given.messages, seed=1)
    measure(SIZES_KB[0], asked[:5])  # what is loaded once is loaded now
    rows = [measure(size, asked) for size in SIZES_KB]
    print(f"{'hidden':>9}  {'index':>7}  {'median':>8}  {'p95':>8}  {'floor':>8}  ratio")
    for row in rows:
        print(
            f"{row['kilobytes']:>6} kB  {row['index_s']:>5} s  {row['median_ms']:>5} ms"
            f"  {row['p95_ms']:>5} ms  {row['floor_median_ms']:>5} ms  x{row['ratio']}"
        )
    by_size = {int(row["kilobytes"]): row for row in rows}
    growth = by_size[2_000]["mean_ms"] / by_size[200]["mean_ms"]
    met = {
        "at_200_kb": by_size[200]["mean_ms"] <= LIMIT_MS,
        "at_most_linear": growth <= GROWTH_LIMIT,
    }
    print(f"from 200 to 2,000 kB: x{growth:.2f} (at most x{GROWTH_LIMIT:g}); met: {met}")
    result: dict[str, object] = {"benchmark": "screen", "sizes": rows, "growth": round(growth, 2)}
    result["met"] = met
    print(json.dumps(result))


if __name__ == "__main__":
    main()
