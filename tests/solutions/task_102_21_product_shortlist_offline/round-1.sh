# Second attempt: every requirement from the detail page, with evidence and the method.
python3 <<'PY'
import json
from pathlib import Path

REQUIREMENTS = {
    "size": "26 <= detail.size_in <= 28",
    "resolution": "detail.resolution is 3840x2160 (true 4K)",
    "usb_c_video": "detail.usb_c_video is true (DisplayPort Alt Mode)",
    "condition": "detail.price_type is new_direct",
    "budget": "the new price, detail.new_price or else detail.price, is at most 500",
    "us_delivery": "detail.ships_to_us is true",
    "stock": "detail.availability is in_stock",
}


def failures(detail):
    price = detail.get("new_price", detail["price"])
    if not 26 <= detail["size_in"] <= 28:
        yield "size_in", f"wrong size: {detail['size_in']} inch, asked for about 27"
    if detail["resolution"] != "3840x2160":
        yield "resolution", f"QHD or other, not true 4K: {detail['resolution']}"
    if not detail["usb_c_video"]:
        yield "usb_c_video", f"USB-C without video: {detail['usb_c_note']}"
    if detail["price_type"] != "new_direct":
        yield "price_type", f"the price is {detail['price_type']}, not new; new it costs {price:g}"
    if price > 500:
        yield "price", f"over budget: the new price is {price:g}, more than 500"
    if not detail["ships_to_us"]:
        yield "ships_to_us", "no delivery to the US"
    if detail["availability"] == "out_of_stock":
        yield "availability", "out of stock"


taken, rejected = [], []
for file in sorted(Path("clawbench/sources/catalog").glob("M*.json")):
    product = json.loads(file.read_text(encoding="utf-8"))
    detail = product["detail"]
    wrong = [{"detail_field": f"detail.{field}", "reason": why} for field, why in failures(detail)]
    entry = {"id": product["id"], "title": product["title"]}
    if wrong:
        rejected.append({**entry, "reasons": wrong})
        continue
    evidence = {
        "resolution": detail["resolution"],
        "usb_c_video": f"{detail['usb_c_video']} ({detail['usb_c_note']})",
        "condition": detail["price_type"],
        "us_delivery": f"ships to US: {detail['ships_to_us']}",
        "stock": detail["availability"],
    }
    taken.append({**entry, "new_direct_price_usd": detail["price"], "evidence": evidence})
method = {
    "authority_rule": "Only the detail page decides; where the listing disagrees, detail wins.",
    "requirements": REQUIREMENTS,
    "procedure": "Each catalog file is read and every requirement applied; all failures are kept.",
}
for name, content in (("shortlist", taken), ("rejections", rejected), ("method", method)):
    text = json.dumps(content, indent=2, ensure_ascii=False)
    Path(f"results/monitor_{name}.json").write_text(text, encoding="utf-8")
print(len(taken), "taken,", len(rejected), "rejected")
PY
#: Every requirement is now taken from the detail page. The shortlist carries its evidence, and
#: results/monitor_method.json says how I decided.
