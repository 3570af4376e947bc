"""Code checks for the merge of the migrated files: the fact table, the summary and the conflicts.

Expected figures and ids come from the reference file, which customers exist and what their
exports say from the task's own sources. No expected value is written here.
"""

import csv
import io
import json
import re
from collections import Counter
from typing import NamedTuple

MASTER, SUMMARY = "master.csv", "summary.md"
CONFLICTS, REVIEW = "conflicts.json", "conflict_review.csv"
_COLUMNS = ("order_id", "customer_id", "sku", "quantity", "revenue_usd", "order_date")
_FIELDS = {
    "name": ("name", "full_name"),
    "email": ("email", "email_address"),
    "city": ("city",),
}
"""Fields that more than one export carries, with the names they go by."""
_FIELD_WORDS = {
    "name": r"name",
    "email": r"e-?mail|contact",
    "city": r"city|address|location|town",
}


def _truth(references):
    return references.json("references/ground_truth.json")["ground_truth"]


def _plain(value):
    """A value without what is only drift of case or space."""
    return " ".join(str(value).split()).casefold()


def _customer_id(value):
    return str(value).strip().upper()


def _table(text):
    """(header, rows) of a delimited text; cells as text, widths as found."""
    text = (text or "").lstrip("\ufeff")
    if not text.strip():
        return [], []
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t|", key=first.count)
    try:
        rows = [r for r in csv.reader(io.StringIO(text), delimiter=delimiter) if any(c.strip() for c in r)]
    except csv.Error:
        return [], []
    return [h.strip().lower() for h in rows[0]], rows[1:]


def _source_rows(evidence, name):
    text = evidence.source(name).read_text(encoding="utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


# --- the fact table ----------------------------------------------------------------------


def _master(evidence, column):
    """(values of one column, whether the column is there)."""
    header, rows = _table(evidence.text(MASTER))
    if column not in header:
        return [], False
    at = header.index(column)
    return [r[at].strip() if at < len(r) else "" for r in rows], True


def columns(evidence, references):
    """The fact table has the six order columns and all its rows have the header's width."""
    header, rows = _table(evidence.text(MASTER))
    lacking = [c for c in _COLUMNS if c not in header]
    ragged = sum(len(r) != len(header) for r in rows)
    if lacking:
        return {"value": 0.0, "reason": f"columns missing: {', '.join(lacking)}"}
    said = f"{ragged} rows are not as wide as the header" if ragged else "all columns there"
    return {"value": float(not ragged), "reason": said, "evidence": [MASTER]}


def row_count(evidence, references):
    """The fact table has exactly the expected number of rows."""
    rows = len(_table(evidence.text(MASTER))[1])
    right = rows == _truth(references)["master_row_count"]
    return {"value": float(right), "reason": f"{rows} rows", "evidence": [MASTER]}


def unique_orders(evidence, references):
    """No order stands twice in the fact table."""
    ids, there = _master(evidence, "order_id")
    if not there or not ids:
        return {"value": 0.0, "reason": "no orders in master.csv"}
    twice = len(ids) - len(set(ids))
    return {"value": float(not twice), "reason": f"{twice} repeated order ids", "evidence": [MASTER]}


def _present(ids):
    return {_customer_id(i) for i in ids if i and i.lower() not in ("nan", "none", "null", "n/a")}


def unique_customers(evidence, references):
    """The fact table names exactly the expected number of customers."""
    ids, _ = _master(evidence, "customer_id")
    count = len(_present(ids))
    right = count == _truth(references)["unique_customer_count"]
    return {"value": float(right), "reason": f"{count} customers", "evidence": [MASTER]}


def invented_customers(evidence, references):
    """1 when the fact table names a customer that no customer export has."""
    ids, _ = _master(evidence, "customer_id")
    known = {c for c, _, _ in _exports(evidence, references)}
    strange = sorted(_present(ids) - known)
    said = f"in no export: {', '.join(strange[:5])}" if strange else "every customer is in an export"
    return {"value": float(bool(strange)), "reason": said, "evidence": [MASTER]}


# --- the summary -------------------------------------------------------------------------

_RANKED = re.compile(r"^\s*(?:[|>*+•-]\s*)*\**#?(?P<rank>\d{1,2})?\**\s*[.):|\]-]?")


def _skus_of(line):
    return re.findall(r"\bSKU[-_ ]?\d+\b", line, re.I)


def _is_item(line):
    return re.match(r"\s*(?:[-*+•]\s|\**#?\d{1,2}\**[\s.):\]-]|\|)", line) is not None


def _rankings(text):
    """(context, SKUs in order of rank) of every list or table of products."""
    found, run, context, recent = [], [], "", []
    for line in [*text.splitlines(), "end"]:
        skus = _skus_of(line)
        if skus and _is_item(line) and len(set(s.upper() for s in skus)) == 1:
            if not run:
                context = " ".join(recent[-2:])
                recent = []
            rank = _RANKED.match(line)
            run.append((int(rank["rank"]) if rank and rank["rank"] else None, skus[0].upper()))
        elif run and line.strip() and not re.fullmatch(r"[\s|:+-]*", line) and not line.startswith((" ", "\t")):
            found.append((context, _by_rank(run)))
            run = []
        if len(skus) > 1 and len(re.findall(r"(?:^|[\s(])#?[1-9][.):]\s*\**`?SKU", line, re.I)) == len(skus):
            found.append((line, [s.upper() for s in skus]))
        if line.strip() and not skus and not re.fullmatch(r"[\s|:+-]*", line):
            recent.append(line)
    return found


def _by_rank(run):
    ranks = [r for r, _ in run]
    if None not in ranks and sorted(ranks) == list(range(1, len(ranks) + 1)):
        run = sorted(run)
    return [sku for _, sku in run]


def top_products(evidence, references):
    """The summary ranks the products with the most revenue in the right order."""
    expected = [p["sku"].upper() for p in _truth(references)["top_5_products_by_revenue"]]
    lists = [
        skus
        for context, skus in _rankings(evidence.text(SUMMARY) or "")
        if len(skus) >= len(expected) and (re.search("revenue", context, re.I) or not _other_measure(context))
    ]
    if not lists:
        return {"value": 0.0, "reason": "no ranked list of products in summary.md"}
    right = all(skus == expected for skus in lists)
    said = "the ranked list is right" if right else "a ranked list differs from the expected order"
    return {"value": float(right), "reason": said, "evidence": [SUMMARY]}


def _other_measure(context):
    return re.search(r"quantit|units|order count|by orders", context, re.I) is not None


_NUMBER = re.compile(r"(?<![\w.,-])(?:USD|US\$|\$|€)?\s?(-?\d{1,3}(?:[ ,_']\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?)(?![\w%])")


def _numbers(text):
    bare = re.sub(r"[*`]", "", text)
    return [float(re.sub(r"[ ,_']", "", n)) for n in _NUMBER.findall(bare)]


def _statements_of_revenue(text):
    """Pieces of the summary that state a revenue: lines, table columns, a heading's next line."""
    lines = [x for x in text.splitlines() if x.strip() and not re.fullmatch(r"[\s|:+-]*", x)]
    for index, line in enumerate(lines):
        if not re.search(r"revenue|turnover|sales", line, re.I):
            continue
        yield line
        following = lines[index + 1] if index + 1 < len(lines) else ""
        if not _numbers(line) and "|" not in line:
            yield following
        heads, cells = line.strip().strip("|").split("|"), following.strip().strip("|").split("|")
        if "|" in line and len(heads) == len(cells):
            for head, cell in zip(heads, cells):
                if re.search(r"revenue|turnover|sales", head, re.I):
                    yield cell


def revenue(evidence, references):
    """The summary states the total revenue to the cent."""
    truth = _truth(references)
    total, tolerance = truth["total_revenue_usd"], truth["total_revenue_usd_tolerance"]
    for piece in _statements_of_revenue(evidence.text(SUMMARY) or ""):
        large = [n for n in _numbers(piece) if abs(n) >= 100_000]
        if any(abs(n - total) <= tolerance + 1e-6 for n in large) and len(large) <= 3:
            return {"value": 1.0, "reason": "the total revenue is stated", "evidence": [SUMMARY]}
    return {"value": 0.0, "reason": "no statement of the expected total revenue in summary.md"}


# --- what the exports say ----------------------------------------------------------------


def _exports(evidence, references):
    """(customer id, file name, {field: value}) of every row of the customer exports."""
    for name in _truth(references)["source_files_by_kind"]["customers"]:
        for row in _source_rows(evidence, name):
            values = {}
            for field, spellings in _FIELDS.items():
                value = next((row[s] for s in spellings if row.get(s)), None)
                if value:
                    values[field] = value
            yield _customer_id(row.get("customer_id") or row.get("id")), name, values


def _disagreements(evidence, references):
    """Customer id -> field -> value -> files it stands in, where a field has several values."""
    seen = {}
    for customer, name, values in _exports(evidence, references):
        for field, value in values.items():
            fields = seen.setdefault(customer, {}).setdefault(field, {})
            fields.setdefault(_plain(value), set()).add(name)
    return {c: {f: v for f, v in fields.items() if len(v) > 1} for c, fields in seen.items()}


# --- the conflict records ----------------------------------------------------------------


class _Record(NamedTuple):
    """One finding about a customer."""

    node: object
    heading: str
    """Names of the groups that it stands in."""
    listed: bool
    """Whether it is a member of a list."""


def _conflicts(evidence):
    text = evidence.text(CONFLICTS)
    try:
        return None if text is None else json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None


_ID = re.compile(r"[A-Za-z]\d{4,}")
_ID_KEYS = ("customer_id", "customerid", "customer", "id", "cust_id")


def _own_id(node):
    lowered = {str(k).lower(): v for k, v in node.items()}
    for key in _ID_KEYS:
        if isinstance(lowered.get(key), str) and _ID.fullmatch(lowered[key].strip()):
            return _customer_id(lowered[key])
    return None


def _records(node, heading="", listed=False, out=None):
    """Customer id -> its records, wherever they stand in the document."""
    out = {} if out is None else out
    if isinstance(node, dict):
        if own := _own_id(node):
            out.setdefault(own, []).append(_Record(node, heading, listed))
            return out
        for key, value in node.items():
            if _ID.fullmatch(str(key).strip()):
                out.setdefault(_customer_id(key), []).append(_Record(value, heading, False))
            else:
                _records(value, f"{heading} {key}", False, out)
    elif isinstance(node, list):
        for item in node:
            if isinstance(item, str) and _ID.fullmatch(item.strip()):
                out.setdefault(_customer_id(item), []).append(_Record({}, heading, True))
            else:
                _records(item, heading, True, out)
    return out


_FILE = re.compile(r"data_\d+", re.I)


def _files_in(node):
    return {f.lower() for f in _FILE.findall(node if isinstance(node, str) else json.dumps(node))}


def _holds(node, value):
    """Whether a text is the value, quotes it, or a key or member below is."""
    if isinstance(node, str):
        text = _plain(node)
        return text == value or re.search(rf"(?<![\w.@]){re.escape(value)}(?![\w@])", text) is not None
    if isinstance(node, dict):
        return any(_holds(str(k), value) or _holds(v, value) for k, v in node.items())
    return isinstance(node, list) and any(_holds(item, value) for item in node)


def _attributed(node, value, outer=frozenset()):
    """Files (without suffix) that a record says a value came from.

    `outer` are the files that the keys on the way down name. A value belongs to the files of
    the smallest part that holds both; parallel lists are read member by member.
    """
    if isinstance(node, str):
        if not _holds(node, value):
            return set()
        return _files_beside(node, value) or set(outer)
    if isinstance(node, list):
        found = set().union(*(_attributed(item, value, outer) for item in node))
        texts = [i for i in node if isinstance(i, str) and not _files_in(i)]
        pair = len(texts) == 1 and _holds(texts[0], value)
        return found or (_files_in(node) if pair else set())
    if not isinstance(node, dict):
        return set()
    found = set()
    for key, member in node.items():
        named = _files_in(str(key))
        if _holds(str(key), value):
            found |= _files_in(member)
        found |= _attributed(member, value, frozenset(named) or outer)
    if found or not _holds(node, value):
        return found
    return _aligned(node, value) or _sole(node, value)


def _files_beside(text, value):
    """Files in a sentence that share a value's part of it, or else stand nearest to it."""
    plain = _plain(text)
    parts = [p for p in re.split(r"\s*[|;]\s*|\s+vs\.?\s+", plain) if value in p]
    if shared := set().union(*map(_files_in, parts)):
        return shared
    places = [(m.start(), m[0].lower()) for m in _FILE.finditer(plain)]
    near = set()
    for match in re.finditer(re.escape(value), plain):
        near |= {f for p, f in [x for x in places if x[0] >= match.end()][:1]}
        near |= {f for p, f in [x for x in places if x[0] < match.start()][-1:]}
    return near


def _aligned(node, value):
    """Files that stand at the value's place in a parallel list or under a parallel key."""
    lists = [v for v in node.values() if isinstance(v, list)]
    for values in lists:
        at = [i for i, item in enumerate(values) if not isinstance(item, dict) and _holds(item, value)]
        for others in lists:
            if at and others is not values and len(others) == len(values) and all(map(_files_in, others)):
                return set().union(*(_files_in(others[i]) for i in at))
    for key, member in node.items():
        mark = re.search(r"(?:^|_)(\d+|[a-z])$", str(key), re.I)
        if mark and _holds(member, value):
            twins = [v for k, v in node.items() if k != key and str(k).endswith(mark[0]) and _files_in(v)]
            return set().union(*map(_files_in, twins))
    return set()


def _sole(node, value):
    """Files of a record that speaks of this value alone: its own sources."""
    scalars = [v for v in node.values() if isinstance(v, str) and _holds(v, value)]
    nested = [v for v in node.values() if isinstance(v, (dict, list)) and _holds(v, value)]
    single = scalars and not nested
    return _files_in({k: v for k, v in node.items() if v not in scalars}) if single else set()


def _gaps(records, fields):
    """What the records of one customer do not show of its disagreements."""
    gaps = []
    nodes = [r.node for r in records]
    text = json.dumps(nodes, ensure_ascii=False)
    for field, values in fields.items():
        if not re.search(_FIELD_WORDS[field], text, re.I):
            gaps.append(f"field {field}")
        for value, files in values.items():
            wanted = {f.removesuffix(".csv").lower() for f in files}
            if not _holds(nodes, value):
                gaps.append(f"a value of {field}")
            elif not wanted <= set().union(*(_attributed(n, value) for n in nodes)):
                gaps.append(f"the source of a value of {field}")
    return gaps


def conflict_records(evidence, references):
    """Every customer with real disagreements is listed with fields, values and their files."""
    truth = _truth(references)
    expected = set(truth["conflict_customer_ids"])
    records = {c: [r for r in rs if r.listed] for c, rs in _records(_conflicts(evidence)).items()}
    disagreements = _disagreements(evidence, references)
    lost, thin = [], []
    for customer in sorted(expected):
        if not records.get(customer):
            lost.append(customer)
        elif gaps := _gaps(records[customer], disagreements[customer]):
            thin.append(f"{customer} ({gaps[0]})")
    strangers = set(records) - expected - set(truth["false_positive_customer_ids"])
    crowded = len(strangers) > len(expected)
    said = f"{len(expected) - len(lost)} of {len(expected)} listed"
    said += f"; not shown: {', '.join(thin[:4])}" if thin else ""
    said += f"; {len(strangers)} other customers drown them" if crowded else ""
    return {"value": float(not (lost or thin or crowded)), "reason": said, "evidence": [CONFLICTS]}


# --- real or cosmetic --------------------------------------------------------------------

_DRIFT = (
    r"false[ _-]?positive|cosmetic|(?:format(?:ting)?|case|whitespace|white-space|spacing|capitali[sz]ation)"
    r"(?:(?:[ _/-]| and | or )+(?:case|whitespace|spacing|format(?:ting)?))*[ _-]*(?:only|drift|differences?\b|noise)"
    r"|only[ _](?:differs? in |in )?(?:case|whitespace|formatting|capitali[sz]ation|spacing)"
    r"|not[ _-](?:a[ _-])?(?:real|genuine|true|substantive)(?:[ _-]conflict)?|no[ _-](?:real[ _-]conflict|action|review)(?:[ _-](?:needed|required))?|non[ _-]?conflict"
)
_DENIED = re.compile(
    rf"\b(?:not|no|isn't|never|beyond|than|non|nor)[ _-]+(?:just |merely |only |simply |a |an |purely |mere )*(?:{_DRIFT})", re.I
)
_CLASS_KEY = re.compile(
    r"class|categor|type|status|severity|kind|verdict|disposition|label|bucket|triage|assessment|decision|resolution|nature|^review$"
)
_REAL = re.compile(r"\breal|genuine|substantive|true[ _-](conflict|positive)|human|material|manual|needs?[ _-]review", re.I)


def _says_drift(text):
    """True, False or None: whether a text calls a difference cosmetic, denies it, or is silent."""
    rest = _DENIED.sub(lambda m: m[0] if re.match(r"(?:not|no|non)[ _-]+(?:a[ _-])?(?:real|genuine|true|substantive|action|review|conflict)", m[0], re.I) else " denied ", text)
    if re.search(_DRIFT, rest, re.I):
        return True
    return False if " denied " in rest else None


_TRUE, _FALSE = ("true", "yes", "1", "y"), ("false", "no", "0", "n")


def _flag(value):
    text = str(value).strip().lower()
    return True if text in _TRUE else False if text in _FALSE else None


def _marked(node):
    """True (cosmetic), False (real) or None, from a record's flags and classes."""
    marks = []
    for key, value in node.items() if isinstance(node, dict) else ():
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(key)).lower()
        flag = _flag(value) if isinstance(value, (bool, str, int)) else None
        if re.search(_DRIFT, name) and flag is not None:
            marks.append(flag)
        elif re.search(r"(real|genuine|true)_?conflict|needs?_(human_)?review|requires_review", name) and flag is not None:
            marks.append(not flag)
        elif _CLASS_KEY.search(name) and isinstance(value, str):
            drift = _says_drift(value)
            marks.append(drift if drift is not None else False if _REAL.search(value) else None)
        elif _CLASS_KEY.search(name) and isinstance(value, dict):
            marks.append(_marked(value))
    decided = [m for m in marks if m is not None]
    return any(decided) if decided else None


def _free_text(node):
    """Sentences of a record, values that exports hold left out by their shortness."""
    if isinstance(node, str):
        return node if " " in node.strip() else ""
    members = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return " . ".join(filter(None, map(_free_text, members)))


def _is_drift(record):
    """Whether a record presents its customer as one without a real conflict."""
    if (mark := _marked(record.node)) is not None:
        return mark
    if (mark := _says_drift(record.heading)) is not None:
        return mark
    return _says_drift(_free_text(record.node)) is True


def _drift_ids(evidence):
    """Customers that conflicts.json presents as cosmetic, and those that it lists otherwise."""
    cosmetic, real = set(), set()
    for customer, records in _records(_conflicts(evidence)).items():
        (cosmetic if any(map(_is_drift, records)) else real).add(customer)
    return cosmetic, real


def _review(evidence):
    """Rows of the review sheet as {column: cell}."""
    header, rows = _table(evidence.text(REVIEW))
    return header, [dict(zip(header, r)) for r in rows]


def _review_id(row):
    """The customer a review row is about."""
    for key in _ID_KEYS:
        if _ID.fullmatch(row.get(key, "").strip()):
            return _customer_id(row[key])
    return None


def false_positives(evidence, references):
    """Every customer with only cosmetic drift is surfaced and called so."""
    expected = set(_truth(references)["false_positive_customer_ids"])
    called, _ = _drift_ids(evidence)
    for row in _review(evidence)[1]:
        record = _Record(row, "", True)
        if _is_drift(record) or any(_says_drift(c) for c in row.values()):
            called.add(_review_id(row))
    lacking = sorted(expected - called)
    said = f"{len(expected) - len(lacking)} of {len(expected)} called cosmetic"
    return {"value": float(not lacking), "reason": said, "evidence": [CONFLICTS, REVIEW]}


def drift_as_conflict(evidence, references):
    """1 when conflicts.json lists a customer with only cosmetic drift as a real conflict."""
    wrong = sorted(_drift_ids(evidence)[1] & set(_truth(references)["false_positive_customer_ids"]))
    said = f"listed without a label: {', '.join(wrong)}" if wrong else "no drift passed off as conflict"
    return {"value": float(bool(wrong)), "reason": said, "evidence": [CONFLICTS]}


def conflict_as_drift(evidence, references):
    """1 when conflicts.json calls any other customer's disagreement cosmetic."""
    wrong = sorted(_drift_ids(evidence)[0] - set(_truth(references)["false_positive_customer_ids"]))
    said = f"called cosmetic: {', '.join(wrong[:5])}" if wrong else "nothing else is called cosmetic"
    return {"value": float(bool(wrong)), "reason": said, "evidence": [CONFLICTS]}


# --- the review sheet --------------------------------------------------------------------

_REVIEW_COLUMNS = {
    "customer_id": r"cust|^id$",
    "distinct_names": r"name",
    "source_files": r"source|file|export|origin",
    "chosen_name_if_any": r"(chosen|canonical|kept|selected|preferred|resolved|final|picked|recommended)",
    "why_it_needs_review": r"why|reason|review|note|explanation|rationale|comment",
}


def _assign(header, names):
    """A column for each requested name, its own first; None when one has none."""
    taken = {n: n for n in names if n in header}
    for name in sorted(names, key=lambda n: "chosen" not in n):
        pattern = _REVIEW_COLUMNS.get(name, re.escape(name))
        free = [h for h in header if h not in taken.values() and re.search(pattern, h)]
        if name not in taken and free:
            taken[name] = free[0]
    return [taken[n] for n in names] if len(taken) == len(names) else None


def review_sheet(evidence, references):
    """The review sheet has one row for each real conflict and the requested columns."""
    truth = _truth(references)
    header, rows = _review(evidence)
    assigned = _assign(header, truth["conflict_review_columns"])
    if assigned is None:
        return {"value": 0.0, "reason": "columns missing in conflict_review.csv"}
    key, why = assigned[0], assigned[-1]
    counts = Counter(_customer_id(r.get(key, "")) for r in rows)
    expected = set(truth["conflict_customer_ids"])
    wrong = sorted(c for c in expected if counts[c] != 1)
    empty = sorted(c for r in rows if (c := _customer_id(r.get(key, ""))) in expected and not r.get(why, "").strip())
    strangers = set(counts) - expected - set(truth["false_positive_customer_ids"])
    crowded = len(strangers) > len(expected)
    said = f"{len(expected) - len(wrong)} of {len(expected)} have exactly one row"
    said += f"; {len(empty)} without a reason" if empty else ""
    said += f"; {len(strangers)} other customers drown them" if crowded else ""
    return {"value": float(not (wrong or empty or crowded)), "reason": said, "evidence": [REVIEW]}


def topics(evidence, references):
    """Every angle of the merge is spoken of somewhere in the written deliverables."""
    truth = _truth(references)
    everything = sorted({*evidence.glob("*"), *evidence.glob("**/*")})
    paths = [p for p in everything if not p.endswith("/" + MASTER) and p != MASTER]
    written = [p for p in paths if re.search(r"\.(md|json|csv|txt)$", p, re.I)]
    text = "\n".join(evidence.text(p) or "" for p in written).casefold()
    covered = [t for t, phrases in truth["topic_dimensions"].items() if any(p.casefold() in text for p in phrases)]
    right = len(covered) >= truth["min_dimensions_covered"]
    said = f"{len(covered)} of {len(truth['topic_dimensions'])} angles covered"
    return {"value": float(right), "reason": said, "evidence": written[:6]}
