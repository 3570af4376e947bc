"""Checks over the brightened photo and the bills."""

import csv

from PIL import Image


def bright(evidence, references, dark):
    """1 when the picture is the dark one's scene, its paper bright and its print dark."""
    path = evidence.path("bright.png")
    source = evidence.source(dark)
    if path is None or source is None:
        return {"value": 0.0, "reason": "no picture"}
    try:
        with Image.open(path) as image, Image.open(source) as original:
            found, known = image.convert("L"), original.convert("L")
    except (OSError, ValueError):
        return {"value": 0.0, "reason": "no image"}
    if found.size != known.size:
        return {"value": 0.0, "reason": f"size {found.size}"}
    paper, ink = (sum(found.crop(box).resize((8, 8)).getdata()) / 64 for box in ((220, 330, 380, 360), (182, 130, 194, 200)))
    thumb = [list(picture.resize((48, 32)).getdata()) for picture in (found, known)]
    order = [sorted(range(len(values)), key=values.__getitem__) for values in thumb]
    shared = len(set(order[0][-500:]) & set(order[1][-500:])) / 500
    right = paper >= 140 and paper - ink >= 70 and shared >= 0.7
    return {"value": float(right), "reason": f"paper {paper:.0f}, ink {ink:.0f}, scene {shared:.2f}", "evidence": ["bright.png"]}


def strange_flat(evidence, references, column):
    """1 when a bill is made out for a flat that is not in the house."""
    known = set(references.json("references/expected.json")["flats"])
    try:
        rows = list(csv.DictReader((evidence.text("bills.csv") or "").lstrip("\ufeff").splitlines()))
    except csv.Error:
        return False
    return any((row.get(column) or "").strip() not in known for row in rows if column in row)
