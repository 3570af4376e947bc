"""Code checks for the monitor shortlist: which were taken, which were not and why.

The qualifying ids come from the reference file; what each product page says comes from the
task's own catalog. No expected value is written here.
"""

import json
import re
from typing import NamedTuple

SHORTLIST, REJECTIONS, METHOD = "monitor_shortlist.json", "monitor_rejections.json", "monitor_method.json"


def _load(evidence, path):
    text = evidence.text(path)
    try:
        return None if text is None else json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None


def _words(text):
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", str(text))
    return re.sub(r"[_\s]+", " ", text).lower()


def _flat(node):
    """All keys and values of a node as one text in lower case, underscores as spaces."""
    if isinstance(node, dict):
        return " ; ".join(f"{_words(k)}: {_flat(v)}" for k, v in node.items())
    if isinstance(node, list):
        return " ; ".join(map(_flat, node))
    return _words(json.dumps(node) if isinstance(node, (bool, type(None))) else node)


class _Catalog(NamedTuple):
    qualifying: frozenset[str]
    rejected: frozenset[str]
    detail_only: tuple[str, ...]
    """Rejected products that only their page gives away."""
    details: dict[str, dict]
    listings: dict[str, dict]
    titles: dict[str, str]


def _catalog(evidence, references):
    truth = references.json("references/ground_truth.json")
    anchors = truth["scoring_anchors"]
    ids = [p["id"] for p in truth["per_product"]]
    pages = {i: json.loads(evidence.source(f"catalog/{i}.json").read_text(encoding="utf-8")) for i in ids}
    rejected = frozenset(anchors["must_reject_with_specific_trap"])
    hidden = tuple(i for i in sorted(rejected) if i in anchors["authority_rule_matters"])
    return _Catalog(
        frozenset(truth["qualifying_set"]),
        rejected,
        hidden,
        {i: p["detail"] for i, p in pages.items()},
        {i: p["listing"] for i, p in pages.items()},
        {i: _words(p["title"]) for i, p in pages.items()},
    )


# --- products in a document --------------------------------------------------------------

_ID = re.compile(r"\s*([A-Z]{1,3}[-_ ]?\d{1,4})(?:\.json)?\s*", re.I)
_ID_KEYS = ("id", "product_id", "productid", "product", "monitor_id", "item_id", "sku", "model_id", "file")
_ASIDE = re.compile(r"reject|exclu|disqualif|fail|not qualif|non qualif|unqualif|drop|remov|ruled out|near miss|considered|all products|evaluat")


def _as_id(text):
    match = _ID.fullmatch(str(text)) if isinstance(text, str) else None
    return re.sub(r"[-_ ]", "", match[1]).upper() if match else None


def _own_id(node):
    lowered = {re.sub(r"\s", "_", _words(k)): v for k, v in node.items()}
    return next((i for k in _ID_KEYS if (i := _as_id(lowered.get(k)))), None)


def _products(node, skip, out=None):
    """Product id -> its records, outside groups whose name `skip` matches."""
    out = {} if out is None else out
    if isinstance(node, list):
        for item in node:
            if own := _as_id(item):
                out.setdefault(own, []).append({})
            else:
                _products(item, skip, out)
    elif isinstance(node, dict):
        if own := _own_id(node):
            out.setdefault(own, []).append(node)
            return out
        for key, value in node.items():
            if own := _as_id(key):
                out.setdefault(own, []).append(value)
            elif skip is None or not skip.search(_words(key)):
                _products(value, skip, out)
    return out


def _shortlist(evidence):
    """Products taken, or None when there is no readable shortlist."""
    document = _load(evidence, SHORTLIST)
    if document is None:
        return None
    refused = re.compile(r"reject|fail|disqualif|exclud|false|^no$")
    taken = {}
    for product, records in _products(document, _ASIDE).items():
        words = [r for r in records if not (isinstance(r, dict) and _refuses(r, refused))]
        if words:
            taken[product] = words
    return taken


def _refuses(record, refused):
    """Whether a record's own verdict says that the product was not taken."""
    for key, value in record.items():
        verdict = re.fullmatch(r"verdict|decision|status|qualif(ies|ied)|result|shortlisted|included|accepted", _words(key))
        if verdict and refused.search(_flat(value)):
            return True
    return False


def exact_shortlist(evidence, references):
    """The shortlist holds the qualifying products and no other."""
    catalog, taken = _catalog(evidence, references), _shortlist(evidence)
    if not taken:
        return {"value": 0.0, "reason": "no products in monitor_shortlist.json"}
    lost, extra = catalog.qualifying - set(taken), set(taken) - catalog.qualifying
    said = f"lacking: {', '.join(sorted(lost)) or 'none'}; too many: {', '.join(sorted(extra)) or 'none'}"
    return {"value": float(not lost and not extra), "reason": said, "evidence": [SHORTLIST]}


# --- why a product was rejected ----------------------------------------------------------

_NEGATION = r"(?:no|not|non|without|lacks?|lacking|missing|false|isn't|doesn't|does not|cannot|can't|unsupported|never)"
_REASONS = {
    "video": (
        rf"(?:usb.?c|type.?c|alt mode|displayport|dp alt)(?=.*(?:charg|power|data.?only|data hub|data/|pd\b|hub only))"
        rf"|usb.?c[^;.]{{0,40}}video[^;.]{{0,25}}\b{_NEGATION}|\b{_NEGATION}\b[^;.]{{0,30}}(?:usb.?c|type.?c)[^;.]{{0,20}}(?:video|alt|display)"
        rf"|(?:usb.?c|type.?c)[^;.]{{0,40}}\b{_NEGATION}\b[^;.]{{0,25}}(?:video|alt mode|displayport|display)"
        rf"|\b{_NEGATION}\b[^;.]{{0,20}}(?:dp alt|alt mode|displayport alt)|(?:video|alt mode) (?:only )?via hdmi"
        rf"|(?:charging|charge|power|data)(?: |/|-)*(?:and |& |/)?(?:data )?(?:only|hub)"
    ),
    "resolution": rf"qhd|1440|wqhd|2k\b|\b{_NEGATION}\b[^;.]{{0,15}}(?:true )?(?:4k|uhd|3840)|resolution[^;.]{{0,30}}\b(?:wrong|mismatch|too low|insufficient|below|lower)",
    "condition": (
        r"\bused\b|like.?new|renewed|refurb|pre.?owned|second.?hand|open.?box|reconditioned|third.?party|reseller"
        rf"|\b{_NEGATION}\b[^;.]{{0,15}}\bnew\b|price type[^;.]{{0,40}}(?:used|renew|not|wrong)"
    ),
    "size": r"wrong size|size[^;.]{0,50}(?:\bnot\b|outside|exceed|too|out of|above|over|large|big|>|wrong|fail|mismatch|instead)|too (?:large|big)|oversize|outside[^;.]{0,25}(?:size|2[678])|\bnot[^;.]{0,15}\b27|(?:inch|\bin\b|\")[^;.]{0,30}(?:outside|not|>|exceed|too|above|over)",
    "delivery": rf"\b{_NEGATION}\b[^;.]{{0,30}}(?:ship|deliver|available|\bus\b|united states)|(?:ships?|deliver\w*|us delivery)[^;.]{{0,30}}\b(?:{_NEGATION}|eu|europe)\b|\beu.?only|europe only|only (?:ships|delivers|in|to)[^;.]{{0,15}}(?:eu|europe)|undeliverable|(?:ship|deliver)\w*[^;.]{{0,20}}(?:unavailable|restrict)",
    "budget": r"over.?budget|(?:above|over|exceed\w*|more than|higher than|beyond|greater than|>|outside)[^;]{0,30}(?:budget|\$ ?\d|\d{3}|limit|cap|max|price)|(?:price|cost|budget)[^;]{0,40}(?:exceed|too (?:high|expensive)|over\b|above|>|higher|too much)|too expensive",
    "stock": rf"out.?of.?stock|sold out|unavailable|\b{_NEGATION}\b[^;.]{{0,15}}(?:in stock|available)|no stock|back.?order|stock[^;.]{{0,20}}\b(?:out|false|none|zero)\b",
}
_DENIAL = re.compile(
    r"\b(?:not|isn't|no longer|rather than|nor)\s+(?:a |an |just |only )*(?:used|like.?new|renewed|refurbished|qhd"
    r"|1440p?|over.?budget|out.?of.?stock|third.?party)[^;.,]*"
)
_TRAP_WORDS = {
    "video": r"usb|charg", "resolution": r"4k", "condition": r"used|renew", "size": r"size",
    "delivery": r"deliver", "budget": r"budget", "stock": r"stock",
}
_SIZES, _RESOLUTION, _BUDGET = (26, 28), "3840x2160", 500
"""What the buyer asked for, as the public instruction says it."""


def _true_kinds(detail):
    """Kinds of reason that a product's page gives against it."""
    against = {
        "video": not detail["usb_c_video"],
        "resolution": detail["resolution"] != _RESOLUTION,
        "size": not _SIZES[0] <= detail["size_in"] <= _SIZES[1],
        "condition": not detail["price_type"].startswith("new"),
        "budget": detail.get("new_price", detail["price"]) > _BUDGET,
        "delivery": not detail["ships_to_us"],
        "stock": detail["availability"] != "in_stock",
    }
    return {kind for kind, holds in against.items() if holds}


def _states_number(text, value):
    return re.search(rf"(?<![\d.]){re.escape(f'{value:g}')}(?:\.0+)?(?![\d.]*\d)", text) is not None


def _names_value(text, detail, kind):
    """Whether a text names the value on the page that speaks against the product."""
    if kind == "size":
        return _states_number(text, detail["size_in"])
    if kind == "budget":
        return _states_number(text, detail.get("new_price", detail["price"]))
    named = {"resolution": detail["resolution"], "condition": detail["price_type"], "stock": detail["availability"]}
    return kind in named and re.sub(r"\s", "", _words(named[kind])) in re.sub(r"\s", "", text)


_REASON_KEY = re.compile(
    r"reason|why|fail|trap|cause|violat|expla|issue|catch|problem|because|field|cit|note|summary|message|rejection"
    r"|evidence|detail|requirement|criteri|rule|category|code|type"
)
_NAME_KEY = re.compile(r"title|name|listing|^id$|brand|model|seller|url|^file$|product")


def _reason(record, detail):
    """What a record says against its product, whole copies of the page left out."""
    if isinstance(record, str):
        return _words(record)
    if isinstance(record, list):
        return " ; ".join(_reason(item, detail) for item in record)
    if not isinstance(record, dict):
        return ""
    keyed = [(_words(k), v) for k, v in record.items()]
    speaking = [(k, v) for k, v in keyed if _REASON_KEY.search(k) and not re.search("listing|title", k)]
    chosen = speaking or [(k, v) for k, v in keyed if not _NAME_KEY.search(k)]
    parts = [f"{k}: {_flat(v)}" for k, v in chosen if not _is_page(v, detail)]
    fields = [_flat(v) for k, v in keyed if "field" in k]
    values = [_flat(v) for k, v in keyed if re.search(r"value|actual|observed|found|says", k) and "listing" not in k]
    if fields and values:
        parts.append(f"{fields[0].rsplit('.', 1)[-1]}: {values[0]}")
    return " ; ".join(parts)


def _is_page(value, detail):
    """Whether a value is a copy of a product page rather than a reason."""
    keys = {_words(k) for k in value} if isinstance(value, dict) else set()
    return len(keys & {_words(k) for k in detail}) >= 5


def _rejections(evidence):
    return _products(_load(evidence, REJECTIONS), _TAKEN_GROUP)


_TAKEN_GROUP = re.compile(r"^(shortlist(ed)?|qualif(ying|ied)|accepted|selected|passed|kept)( monitors| products)?$")


def _diagnosed(records, product, catalog, trap):
    """Whether a product's records give its own trap, and not a handful of others as well."""
    detail = catalog.details[product]
    text = _DENIAL.sub(" ", " ; ".join(_reason(r, detail) for r in records))
    true = _true_kinds(detail)
    claimed = {k for k, pattern in _REASONS.items() if re.search(pattern, text)}
    claimed |= {k for k in true if _names_value(text, detail, k)}
    wanted = {k for k, pattern in _TRAP_WORDS.items() if re.search(pattern, trap)}
    if "condition" in wanted and "budget" in true and _names_value(text, detail, "budget"):
        wanted |= {"budget"}
    return bool(claimed & wanted & true) and len(claimed - true) < 2


def _diagnoses(evidence, references):
    """(catalog, product -> whether its rejection names the trap; None where it is not rejected)."""
    catalog = _catalog(evidence, references)
    traps = references.json("references/ground_truth.json")["scoring_anchors"]["must_reject_with_specific_trap"]
    records = _rejections(evidence)
    found = {p: _diagnosed(records[p], p, catalog, traps[p]) if p in records else None for p in sorted(traps)}
    return catalog, found


def reasons(evidence, references):
    """Share of the rejected products whose own trap is given."""
    _, found = _diagnoses(evidence, references)
    lacking = [p for p, right in found.items() if not right]
    said = f"no or another reason for: {', '.join(lacking)}" if lacking else "every trap is named"
    return {"value": 1 - len(lacking) / len(found), "reason": said, "evidence": [REJECTIONS]}


_AUTHORITY = re.compile(
    r"detail[^;]{0,80}(?:authorit|wins?\b|overrid|prior|preced|trust|supersede|truth|prefer|govern|only|prevail|decid|instead|over (?:the )?listing)"
    r"|(?:authorit|overrid|trust|prefer|truth)[^;]{0,60}detail|(?:listing|summary)[^;]{0,50}(?:ignored|overrid|not (?:used|trusted)|advisory|unreliable|discard)"
)


def _from_page(records, product, catalog):
    """Whether records show something that only the product's page has."""
    detail, listing = catalog.details[product], catalog.listings[product]
    text = " ; ".join(map(_flat, records))
    fields = {_words(k) for k in detail} - {_words(k) for k in listing}
    known = set(re.findall(r"[\w.]+", _flat(listing) + " " + catalog.titles[product]))
    values = set(re.findall(r"[\w.]+", _flat(list(detail.values())))) - known - {"and", "for", "only", "with", "via", "true"}
    return "detail" in text or any(f in text for f in fields) or any(
        re.search(rf"\b{re.escape(v)}\b", text) for v in values if len(v) > 2
    )


def page_over_listing(evidence, references):
    """Share of the products that only their page gives away which were caught by it."""
    catalog, found = _diagnoses(evidence, references)
    taken, records = _shortlist(evidence) or {}, _rejections(evidence)
    rule = _AUTHORITY.search(_flat(_load(evidence, METHOD) or "")) is not None
    missed = [
        p
        for p in catalog.detail_only
        if p in taken or not found[p] or not (rule or _from_page(records[p], p, catalog))
    ]
    said = f"not caught by the page: {', '.join(missed)}" if missed else "all caught by the page"
    return {"value": 1 - len(missed) / len(catalog.detail_only), "reason": said, "evidence": [REJECTIONS]}


# --- what the shortlist shows ------------------------------------------------------------

_SHOWN = {
    "resolution": (r"3840 ?[x×*] ?2160|\b4k\b|\buhd\b", r"resolution[\w ]*: (?:false|no|fail)"),
    "video": (
        r"(?:usb.?c|type.?c)[^;]{0,60}(?:video|alt|display|dp\b|true|yes|pass)|(?:video|alt mode)[^;]{0,30}(?:usb.?c|type.?c)",
        r"video[\w ]*: (?:false|no\b|fail)",
    ),
    "condition": (r"(?<!like )(?<!like-)\bnew\b", r"(?:condition|price type)[\w ]*: (?:used|like|renew|false|fail)"),
    "delivery": (r"\bus\b|\bu\.s|\busa\b|united states|deliver|ships?\b|shipping", r"(?:ship|deliver)[\w ]*: (?:false|no\b|fail|eu)"),
    "stock": (r"in.?stock|availab|stock: (?:true|yes|pass|ok)", r"stock[\w ]*: (?:false|no\b|fail)|out.of.stock"),
}


def _speaking(record):
    """A shortlist record as text, without the names and the listing's word."""
    if not isinstance(record, dict):
        return _flat(record)
    kept = {k: v for k, v in record.items() if not re.search(r"title|^name|listing", _words(k))}
    return _flat(kept)


def _unshown(records, detail):
    """Requirements that a shortlisted product's records do not show as met."""
    text = " ; ".join(map(_speaking, records))
    lacking = [f for f, (shown, denied) in _SHOWN.items() if not re.search(shown, text) or re.search(denied, text)]
    if not _states_number(text, detail["price"]):
        lacking.append("price")
    return lacking


def evidence_shown(evidence, references):
    """Share of the required facts shown for the products of the shortlist."""
    catalog, taken = _catalog(evidence, references), _shortlist(evidence) or {}
    facts = len(_SHOWN) + 1
    lacking = {p: _unshown(taken[p], catalog.details[p]) if p in taken else ["all"] * facts for p in catalog.qualifying}
    lacking |= {p: ["all"] * facts for p in set(taken) - catalog.qualifying}
    gaps = [f"{p} {g}" for p, gs in sorted(lacking.items()) for g in dict.fromkeys(gs)]
    value = 1 - sum(map(len, lacking.values())) / (facts * len(lacking))
    return {"value": value, "reason": f"not shown: {', '.join(gaps[:6]) or 'none'}", "evidence": [SHORTLIST]}


_REQUIREMENTS = (
    r"size|inch|2[678]", r"3840|4k|resolution", r"usb.?c|alt mode|video", r"\bnew\b|condition|price type",
    r"budget|price|500", r"\bus\b|ship|deliver", r"stock|availab",
)


def method(evidence, references):
    """The method tells the authority rule and how the requirements were applied."""
    text = _flat(_load(evidence, METHOD) or "")
    told = sum(re.search(pattern, text) is not None for pattern in _REQUIREMENTS)
    rule = _AUTHORITY.search(text) is not None
    right = rule and told >= len(_REQUIREMENTS) - 1
    said = f"authority rule {'told' if rule else 'not told'}; {told} of {len(_REQUIREMENTS)} requirements"
    return {"value": float(right), "reason": said, "evidence": [METHOD]}


# --- caps --------------------------------------------------------------------------------


def trap_taken(evidence, references):
    """1 when a product that must be rejected stands in the shortlist."""
    taken = sorted(set(_shortlist(evidence) or {}) & _catalog(evidence, references).rejected)
    said = f"taken: {', '.join(taken)}" if taken else "no trap in the shortlist"
    return {"value": float(bool(taken)), "reason": said, "evidence": [SHORTLIST]}


def shortlist_missing(evidence, references):
    """1 when there is no readable shortlist."""
    missing = _load(evidence, SHORTLIST) is None
    return {"value": float(missing), "reason": "no readable shortlist" if missing else "there is a shortlist"}


def part_or_more(evidence, references):
    """1 when the shortlist is a true part of the right one, or the right one and more."""
    taken = _shortlist(evidence)
    right = _catalog(evidence, references).qualifying
    fired = taken is not None and (set(taken) < right or set(taken) > right)
    said = "lacks or adds products" if fired else "neither a part nor an extension of the right one"
    return {"value": float(fired), "reason": said, "evidence": [SHORTLIST]}


def vague_rejections(evidence, references):
    """1 when the shortlist is right and most rejections lack the product's own reason."""
    catalog, found = _diagnoses(evidence, references)
    right = set(_shortlist(evidence) or {}) == catalog.qualifying
    vague = [p for p, named in found.items() if not named]
    fired = right and len(vague) > len(found) / 2
    return {"value": float(fired), "reason": f"{len(vague)} of {len(found)} without their own reason", "evidence": [REJECTIONS]}


def page_unread(evidence, references):
    """1 when a product that only its page gives away was rejected for another or no clear reason."""
    catalog, found = _diagnoses(evidence, references)
    vague = [p for p in catalog.detail_only if found[p] is False]
    said = f"another or no clear reason: {', '.join(vague)}" if vague else "none rejected without its own reason"
    return {"value": float(bool(vague)), "reason": said, "evidence": [REJECTIONS]}
