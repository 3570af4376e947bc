"""Checks over the coloured plan and the allotment."""

from PIL import Image


def _green(pixel):
    red, green, blue = pixel
    return green >= 90 and green - red >= 40 and green - blue >= 25


def _share(picture, box):
    """Share of green in the lower quarter of a stand, where no number and no sign is."""
    left, top, right, bottom = box
    part = picture.crop((left + 6, bottom - (bottom - top) // 4, right - 6, bottom - 5))
    pixels = list(part.getdata())
    return sum(map(_green, pixels)) / len(pixels)


def coloured(evidence, references):
    """Stands of the right colour, less the wrong ones; 0 when the plan is not the plan or its numbers are gone."""
    expected = references.json("references/expected.json")
    path, source = evidence.path("plan.png"), evidence.source("hall.png")
    if path is None or source is None:
        return {"value": 0.0, "reason": "no plan"}
    try:
        with Image.open(path) as one, Image.open(source) as other:
            found, known = one.convert("RGB"), other.convert("RGB")
    except (OSError, ValueError):
        return {"value": 0.0, "reason": "no image"}
    if found.size != known.size:
        return {"value": 0.0, "reason": f"size {found.size}"}
    differ = [max(abs(a - b) for a, b in zip(p, q)) > 60 for p, q in zip(found.crop((0, 405, 720, 520)).getdata(), known.crop((0, 405, 720, 520)).getdata())]
    if sum(differ) > 0.02 * len(differ):
        return {"value": 0.0, "reason": "something else was changed"}
    right = wrong = 0
    for number, box in expected["boxes"].items():
        green, wanted = _share(found, box) > 0.6, number in expected["taken"]
        centre = ((box[0] + box[2]) // 2, (box[1] + box[3]) // 2)
        label = found.crop((centre[0] - 12, centre[1] - 10, centre[0] + 12, centre[1] + 10))
        dark = sum(sum(pixel) < 200 for pixel in label.getdata())
        right += green and wanted and dark >= 15
        wrong += green and not wanted
    value = max(0.0, (right - wrong) / len(expected["taken"]))
    return {"value": value, "reason": f"{right} right, {wrong} wrong", "evidence": ["plan.png"]}


def double(evidence, references):
    """1 when a stand is let twice, or the one that cannot be used is let."""
    found = evidence.json("allotment.json")
    if not isinstance(found, dict):
        return False
    numbers = [str(v) for v in found.values() if str(v).isdigit()]
    blocked = str(references.json("references/expected.json")["blocked"])
    return len(numbers) != len(set(numbers)) or blocked in numbers
