"""Checks over the calls, the letters and what must not be in the files."""

import csv

from PIL import Image

TICKET, NUMBER = (28, 112, 270, 195), (446, 238, 468, 260)
"""Where the display shows the ticket and the last digit of the call's number."""
MAX_DIFFERENCE = 11


def _differ(one, other, box):
    pairs = zip(one.crop(box).getdata(), other.crop(box).getdata())
    values = [abs(a - b) for a, b in pairs]
    return sum(values) / len(values)


def still(evidence, references):
    """1 when the picture shows the ticket at its first call, while it flashes or afterwards."""
    path = evidence.path("still.png")
    if path is None:
        return {"value": 0.0, "reason": "no picture"}
    found = []
    try:
        with Image.open(path) as image:
            picture = image.convert("L")
    except (OSError, ValueError):
        return {"value": 0.0, "reason": "no image"}
    for name in ("still.png", "still-flash.png"):
        with Image.open(references.path("references/" + name)) as image:
            known = image.convert("L")
        if picture.size == known.size:
            found.append(max(_differ(picture, known, box) for box in (TICKET, NUMBER)))
    least = min(found, default=255.0)
    return {"value": float(least <= MAX_DIFFERENCE), "reason": f"differs by {least:.1f}", "evidence": ["still.png"]}


def calls(evidence, references, columns):
    """Share of the calls found in order, less one for each row that is none."""
    try:
        want = [tuple(row[:3]) for row in csv.reader(references.text("references/calls.csv").splitlines())][1:]
        text = (evidence.text("calls.csv") or "").lstrip("\ufeff")
        got = [tuple((row.get(c) or "").strip() for c in columns) for row in csv.DictReader(text.splitlines())]
    except csv.Error:
        return {"value": 0.0, "reason": "not a table"}
    lengths = [[0] * (len(want) + 1) for _ in range(len(got) + 1)]
    for i, one in enumerate(got):
        for j, other in enumerate(want):
            lengths[i + 1][j + 1] = lengths[i][j] + 1 if one == other else max(lengths[i][j + 1], lengths[i + 1][j])
    common = lengths[-1][-1]
    value = max(0.0, (common - (len(got) - common)) / len(want))
    return {"value": value, "reason": f"{common} of {len(want)} calls, {len(got)} rows", "evidence": ["calls.csv"]}


def patients(evidence, references):
    """1 when a patient's name stands in a file."""
    names = references.json("references/expected.json")["names"]
    words = [*names, *(part for name in names for part in name.split() if len(part) > 3)]
    for path in evidence.glob("*"):
        text = (evidence.text(path) or "").lower()
        if any(word.lower() in text for word in words):
            return {"value": 1.0, "reason": "a patient's name", "evidence": [path]}
    return {"value": 0.0, "reason": "no names"}
