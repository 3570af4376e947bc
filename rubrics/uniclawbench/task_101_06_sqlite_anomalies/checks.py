"""Code checks for the audit of the order dump: which rows were reported, against what the dump says.

The expected rows come from running queries on the task's own dump; column names, the cut-off
date and the counts come from the reference file. No expected value is written here.
"""

import csv
import io
import json
import re
import sqlite3
from collections import Counter
from typing import NamedTuple

# --- the dump ----------------------------------------------------------------------------

JSON_FILE, CSV_FILE, SQL_FILE = "anomalies.json", "anomaly_rows.csv", "reproduce.sql"
FAMILIES = ("price", "duplicate", "orphan", "window")
_TABLES = ("orders", "customers", "products")


class _Dump(NamedTuple):
    db: sqlite3.Connection
    numbers: dict[int, str]
    """Order number of every order id."""
    foreign: frozenset[int]
    """Customer and product ids that orders point at."""
    expected: dict[str, frozenset[int]]
    """Order ids that break each rule."""
    groups: dict[str, frozenset[int]]
    """Order number -> ids, for numbers that stand more than once."""


def _column(db, sql, *arguments):
    return [row[0] for row in db.execute(sql, arguments)]


def _dump(evidence, references):
    db = sqlite3.connect(":memory:")
    db.executescript(evidence.source("orders.db.sql").read_text(encoding="utf-8"))
    checks = references.json("references/ground_truth.json")["ground_truth"]["checks"]
    numbers = dict(db.execute("SELECT order_id, order_number FROM orders"))
    groups = {}
    for order_id, number in numbers.items():
        groups.setdefault(number, set()).add(order_id)
    groups = {n: frozenset(ids) for n, ids in groups.items() if len(ids) > 1}
    orphans = (
        "SELECT order_id FROM orders WHERE customer_id NOT IN (SELECT customer_id FROM customers)"
        " OR product_id NOT IN (SELECT product_id FROM products)"
    )
    late = "SELECT order_id FROM orders WHERE date(ordered_at) > date(?)"
    expected = {
        "price": _column(db, "SELECT order_id FROM orders WHERE unit_price < 0"),
        "duplicate": [i for ids in groups.values() for i in ids],
        "orphan": _column(db, orphans),
        "window": _column(db, late, checks["out_of_window_cutoff"]),
    }
    foreign = _column(db, "SELECT customer_id FROM orders UNION SELECT product_id FROM orders")
    return _Dump(
        db, numbers, frozenset(foreign), {k: frozenset(v) for k, v in expected.items()}, groups
    )


# --- which rule a label speaks of --------------------------------------------------------

_LABELS = {
    "duplicate": (r"dup|repeat|non.?unique|not.?unique|uniqueness|reused|collision|重复",),
    "price": (r"pric|cost|负", r"negativ"),
    "orphan": (
        r"orphan|foreign|\bfks?\b|referential|dangl|relation|integrity|孤|外键|关联",
        r"broken|(missing|unknown|invalid|nonexistent|no|bad|unmatched|unresolved)\W*(customer|product|parent|ref|link)"
        r"|(customer|product|parent|ref)\w*( id)? (is )?(missing|not found|unknown|nonexistent|absent|unmatched)",
    ),
    "window": (
        r"window|dates?\b|ordered.?at|december|\bdec\b|period|temporal|timestamp|time.?range|日期|窗口|时间",
        r"out.?of.?range|outside|late|2010",
    ),
}
_ASIDE = re.compile(
    r"not.?(flagged|reported|anomal|counted|included)|exclu|ignored|skipped|non.?issue|no.?issue"
    r"|clean|legit|reviewed|considered|zero|free|sample|total.?orders|notes?\b|method|schema"
)
"""Labels of things that are told but not reported as breaking one of the four rules."""


def _family(label):
    """The rule that a label names, or None when it names none or no single one."""
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", str(label))
    text = re.sub(r"[_\-./:]+", " ", text).lower()
    if len(text) > 120:
        return None
    points = {}
    for family, (strong, *weak) in _LABELS.items():
        hits = 2 * bool(re.search(strong, text)) + sum(bool(re.search(w, text)) for w in weak)
        if hits:
            points[family] = hits
    if not points or (_ASIDE.search(text) and not re.search(r"negativ|(below|under|than|sub) zero", text)):
        return None
    best = max(points.values())
    winners = [f for f in _LABELS if points.get(f) == best]
    return winners[0]


_LABEL_KEYS = (
    "anomaly_type", "type", "category", "kind", "issue", "issue_type", "problem", "problem_type",
    "rule", "rule_id", "check", "check_name", "family", "name", "label", "title", "id", "key", "group",
)


def _label_of(node):
    """The family named by a record's own label field."""
    lowered = {str(k).lower(): v for k, v in node.items()}
    for key in _LABEL_KEYS:
        if isinstance(lowered.get(key), str) and (family := _family(lowered[key])):
            return family
    return None


# --- which rows a finding names ----------------------------------------------------------

_ID_KEY = re.compile(
    r"^(orders?[._ ]?)?(ids?|pks?|primary[._ ]?keys?(?:[._ ]?values?)?|row[._ ]?ids?|rowids?|record[._ ]?ids?"
    r"|(offending|affected|anomalous|violating|bad|matching|member)[._ ]?(orders?[._ ]?)?(ids?|pks?|primary[._ ]?keys?))$"
)
_NUMBER_KEY = re.compile(r"^(\w*[._ ])?(order[._ ]?(numbers?|nos?|nums?)|numbers?|business[._ ]?(id|identifier|key)s?|identifiers?)$")
_OTHER_KEY = re.compile(
    r"qty|quantit|price|count|total|sql|quer|limit|cut.?off|expected|window|sku|email|amount|rank|severity"
    r"|(customer|product|parent)[._ ]?(ids?|keys?)$|columns?$|^table|describ|descrip|lookup"
)


_COUNT_KEY = r"count|n|cnt|occurrences?|row_count|num_rows|frequency|times|total|duplicate_count"


class _Named(NamedTuple):
    ids: set[int]
    numbers: Counter
    """Order numbers given without an id."""
    shown: set[str]
    """Order numbers given at all."""
    unknown: set[str]
    """Ids and numbers that no order has."""
    counts: list[tuple[str | None, int]]
    """Counts stated beside an order number (None: beside none)."""


def _key(text):
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(text))
    return re.sub(r"[\s\-]+", "_", text).lower()


def _as_id(value):
    """An order id in one of the ways people write it."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        match = re.fullmatch(
            r"\s*(?:orders?)?(?:[ ._:#(\[]*)(?:order_?id|pk|id|rowid)?[\s=:#]*(\d{1,18})(?:\.0)?\s*[)\]]?\s*", value, re.I
        )
        return int(match[1]) if match else None
    if isinstance(value, dict) and len(value) == 1:
        return _as_id(next(iter(value.values())))
    return None


class _Reader:
    """Collects the rows that a finding names, whatever its shape."""

    def __init__(self, dump):
        self.dump = dump
        self.known = set(dump.numbers.values())
        self.named = _Named(set(), Counter(), set(), set(), [])

    def is_number(self, value):
        shaped = r"[A-Z]{2,}[A-Z0-9]*(-[A-Z0-9]+)+"
        return isinstance(value, str) and (
            value.strip() in self.known or re.fullmatch(shaped, value.strip()) is not None
        )

    def add_id(self, order_id):
        if order_id in self.dump.numbers:
            self.named.ids.add(order_id)
        elif order_id not in self.dump.foreign:
            self.named.unknown.add(str(order_id))

    def add_number(self, number, alone=True):
        number = str(number).strip()
        self.named.shown.add(number)
        if number not in self.known:
            self.named.unknown.add(number)
        if alone:
            self.named.numbers[number] += 1

    def read(self, node, under=""):
        if isinstance(node, dict):
            self.read_record(node)
        elif isinstance(node, list):
            self.read_list(node, under)
        elif self.is_number(node):
            self.add_number(node)
        elif isinstance(node, str):
            self.read_sentence(node)
        elif _as_id(node) is not None:
            self.add_id(_as_id(node))

    def read_sentence(self, text):
        numbers = [n for n in re.findall(r"[A-Z]{2,}[A-Z0-9]*(?:-[A-Z0-9]+)+", text) if n in self.known]
        ids = [int(i) for i in re.findall(r"\border[ _]?(?:id)?\s*[=:#]?\s*(\d{1,18})\b", text, re.I)]
        plain = _as_id(text)
        if plain is not None:
            ids = [plain]
        for order_id in ids:
            self.add_id(order_id)
        for number in numbers:
            self.add_number(number, alone=not ids)

    def read_list(self, items, under):
        if items and not any(isinstance(i, (dict, list)) for i in items) and self.read_cells(items):
            return
        for item in items:
            if isinstance(item, (dict, list)) or not _OTHER_KEY.search(under):
                self.read(item, under)

    def read_cells(self, cells):
        """A bare table row: an id and its order number among other cells."""
        numbers = [c.strip() for c in cells if self.is_number(c)]
        ids = [_as_id(c) for c in cells if _as_id(c) is not None]
        if len(numbers) != 1 or len(cells) < 3 or not ids:
            return False
        own = [i for i in ids if self.dump.numbers.get(i) == numbers[0]]
        self.add_id(own[0] if own else ids[0])
        self.add_number(numbers[0], alone=False)
        return True

    def read_record(self, node):
        keyed = [(_key(k), k, v) for k, v in node.items()]
        ranked = sorted(keyed, key=lambda item: ("order" not in item[0], "pk" not in item[0] and "primary" not in item[0]))
        own_ids = [_as_id(v) for k, _, v in ranked if _ID_KEY.match(k) and _as_id(v) is not None]
        own_numbers = [str(v) for k, _, v in ranked if _NUMBER_KEY.match(k) and isinstance(v, (str, int))
                       and not isinstance(v, bool)]
        for order_id in own_ids[:1]:
            self.add_id(order_id)
        has_members = any(isinstance(v, (list, dict)) and v for k, _, v in keyed if not _OTHER_KEY.search(k))
        for number in own_numbers[:1]:
            self.add_number(number, alone=not own_ids and not has_members)
        self.read_counts(keyed, own_numbers)
        if own_ids:
            return
        for key, raw, value in keyed:
            if isinstance(value, (dict, list)):
                self.read_member(key, raw, value)
            elif self.is_number(raw):
                self.add_number(raw, alone=True)
                if isinstance(value, int):
                    self.named.counts.append((raw.strip(), value))

    def read_member(self, key, raw, value):
        if self.is_number(raw):
            self.add_number(raw, alone=not value)
            self.read(value, "")
        elif re.fullmatch(r"\d{1,18}", str(raw)) and isinstance(value, dict):
            self.add_id(int(raw))
        elif not (_OTHER_KEY.search(key) and not _has_records(value)):
            self.read(value, key)

    def read_counts(self, keyed, own_numbers):
        for key, _, value in keyed:
            counted = re.fullmatch(_COUNT_KEY, key) and isinstance(value, int)
            if counted and not isinstance(value, bool):
                self.named.counts.append((own_numbers[0] if own_numbers else None, value))


def _has_records(value):
    items = value.values() if isinstance(value, dict) else value
    return any(isinstance(i, dict) for i in items)


# --- the groups of the report ------------------------------------------------------------


def _report(evidence):
    text = evidence.text(JSON_FILE)
    if text is None:
        return None
    try:
        return json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None


def _groups(node, out=None):
    """(family, label, content) of every finding group, outermost label first."""
    out = [] if out is None else out
    if isinstance(node, list):
        for item in node:
            _groups(item, out)
    elif isinstance(node, dict):
        family = _label_of(node)
        if family and any(
            isinstance(v, (dict, list)) or _ID_KEY.match(_key(k)) or _NUMBER_KEY.match(_key(k))
            for k, v in node.items()
        ):
            label = next(str(v) for k, v in node.items() if isinstance(v, str) and _family(v) == family)
            content = {k: v for k, v in node.items() if not (str(k).lower() in _LABEL_KEYS and v == label)}
            out.append((family, label, content))
            return out
        for key, value in node.items():
            if not isinstance(value, (dict, list)):
                continue
            if family := _family(key):
                out.append((family, str(key), value))
            elif not _ASIDE.search(_key(key).replace("_", " ")):
                _groups(value, out)
    return out


_EXACT_LABEL = {
    "price": r"negativ|负",
    "duplicate": r"number|identif|business|order.?(no|id)|编号|订单号",
    "orphan": r"",
    "window": r"",
}


def _mine(groups, family):
    """The groups of one family; where some name the rule itself, only those."""
    own = [(label, content) for f, label, content in groups if f == family]
    exact = [g for g in own if re.search(_EXACT_LABEL[family], g[0], re.I)]
    return exact or own


def _named(groups, family, dump):
    own = _mine(groups, family)
    reader = _Reader(dump)
    for _, content in own:
        reader.read(content)
    return (bool(own), reader.named)


def _short(values):
    listed = sorted(map(str, values))
    return ", ".join(listed[:6]) + (" ..." if len(listed) > 6 else "")


def grouping(evidence, references):
    """The report is an object whose categories cover all four rules."""
    report = _report(evidence)
    if not isinstance(report, dict):
        return {"value": 0.0, "reason": "no JSON object at anomalies.json"}
    present = {family for family, _, content in _groups(report) if content}
    lacking = [f for f in FAMILIES if f not in present]
    said = f"no category for: {', '.join(lacking)}" if lacking else "all four rules have a category"
    return {"value": float(not lacking), "reason": said, "evidence": [JSON_FILE]}


def rows_of(evidence, references, family):
    """The rows of one category are exactly those that break the rule."""
    dump = _dump(evidence, references)
    present, named = _named(_groups(_report(evidence)), family, dump)
    if not present:
        return {"value": 0.0, "reason": "no such category in anomalies.json"}
    expected = dump.expected[family]
    ids = set(named.ids)
    by_number = Counter(named.numbers)
    wanted = Counter(dump.numbers[i] for i in expected - ids)
    right = not named.unknown and ids <= expected and by_number == wanted
    if ids == expected and not (set(by_number) - {dump.numbers[i] for i in expected}):
        right = not named.unknown
    said = f"{len(ids)} ids and {sum(by_number.values())} bare numbers for {len(expected)} rows"
    if extra := ids - expected:
        said += f"; extra: {_short(extra)}"
    if named.unknown:
        said += f"; not in the dump: {_short(named.unknown)}"
    return {"value": float(right), "reason": said, "evidence": [JSON_FILE]}


def duplicates(evidence, references):
    """The repeated order numbers are reported, all of them and no other."""
    dump = _dump(evidence, references)
    present, named = _named(_groups(_report(evidence)), "duplicate", dump)
    if not present:
        return {"value": 0.0, "reason": "no such category in anomalies.json"}
    members = dump.expected["duplicate"]
    shown = named.shown or {dump.numbers[i] for i in named.ids if named.ids == members}
    counts_right = all(
        count in (len(dump.groups.get(number, ())), len(dump.groups.get(number, ())) - 1)
        for number, count in named.counts
        if number is not None
    )
    right = shown == set(dump.groups) and named.ids <= members and not named.unknown and counts_right
    said = f"{len(shown)} numbers reported, {len(dump.groups)} are repeated"
    if extra := shown - set(dump.groups):
        said += f"; extra: {_short(extra)}"
    if extra := named.ids - members:
        said += f"; rows that belong to none: {_short(extra)}"
    if not counts_right:
        said += "; a stated count is wrong"
    return {"value": float(right), "reason": said, "evidence": [JSON_FILE]}


# --- the row list ------------------------------------------------------------------------


def _table(text):
    """(header, rows) of a delimited text, with column names in lower case."""
    text = (text or "").lstrip("\ufeff")
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t|", key=first.count)
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    except csv.Error:
        return [], []
    if not rows:
        return [], []
    header = [h.strip().lower() for h in rows[0]]
    return header, [dict(zip(header, r)) for r in rows[1:] if any(c.strip() for c in r)]


def row_list(evidence, references):
    """One line for each row and rule it breaks, with the requested columns."""
    truth = references.json("references/ground_truth.json")["ground_truth"]
    columns = truth["reproducibility_outputs"]["csv_columns"]
    header, rows = _table(evidence.text(CSV_FILE))
    lacking = [c for c in columns if c.lower() not in header]
    if lacking:
        return {"value": 0.0, "reason": f"columns missing: {', '.join(lacking)}"}
    dump = _dump(evidence, references)
    found = Counter()
    for row in rows:
        order_id = _as_id(row.get("primary_key", ""))
        if order_id is None:
            order_id = _only_id(dump, row.get("order_number", ""))
        found[(_family(row.get("anomaly_type", "")), order_id)] += 1
    wanted = Counter((f, i) for f in FAMILIES for i in dump.expected[f])
    lost, extra = wanted - found, found - wanted
    said = f"{len(rows)} rows for {sum(wanted.values())}: {sum(lost.values())} lacking, {sum(extra.values())} too many"
    return {"value": float(not lost and not extra), "reason": said, "evidence": [CSV_FILE]}


def _only_id(dump, number):
    ids = [i for i, n in dump.numbers.items() if n == number.strip()]
    return ids[0] if len(ids) == 1 else None


# --- the statements ----------------------------------------------------------------------

_SPEAKS_OF = {
    "price": r"unit_price",
    "duplicate": r"having|over\s*\(\s*partition|order_number",
    "orphan": r"customers|products",
    "window": r"ordered_at",
}
_MAX_ROWS, _MAX_STEPS = 5_000, 50


def _statements(text):
    """The statements of a script, dot-commands of the shell left out."""
    kept = [x for x in (text or "").lstrip("\ufeff").splitlines() if not re.match(r"\s*(\.\w|```)", x)]
    pending, found = "", []
    for piece in re.split(r"(;)", "\n".join(kept)):
        pending += piece
        if piece == ";" and sqlite3.complete_statement(pending):
            found.append(pending)
            pending = ""
    found.append(pending)
    bare = (re.sub(r"--[^\n]*|/\*.*?\*/", " ", s, flags=re.S).strip(" \n\t\r;") for s in found)
    return [s for s, b in zip(found, bare) if b]


def _guard(action, first, second, database, trigger):
    """What the statements may do in the copy of the dump: read, and make views beside it."""
    del second, database, trigger
    if action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH):
        return sqlite3.SQLITE_DENY
    changes = (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE, sqlite3.SQLITE_DROP_TABLE)
    if action in (*changes, sqlite3.SQLITE_ALTER_TABLE) and str(first).lower() in _TABLES:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _run(dump, text):
    """(statement, column names, rows) of every statement that runs and yields columns."""
    db = dump.db
    db.commit()
    db.isolation_level = None
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000)
    db.set_authorizer(_guard)
    results = []
    for statement in _statements(text)[:200]:
        steps = iter(range(_MAX_STEPS))
        db.set_progress_handler(lambda steps=steps: next(steps, None) is None, 100_000)
        try:
            cursor = db.execute(statement)
            if cursor.description:
                rows = cursor.fetchmany(_MAX_ROWS)
                results.append((statement, [c[0].lower() for c in cursor.description], rows))
        except (sqlite3.Error, sqlite3.Warning):
            continue
    return results


def _split_by_label(columns, rows):
    """Rows of one result by the family that a text column names (None: unnamed)."""
    split = {}
    for row in rows:
        named = next((f for c in row if isinstance(c, str) and not re.search(r"\d", c) and (f := _family(c))), None)
        split.setdefault(named, []).append(row)
    return split


def _ids_in(dump, columns, rows, family):
    """Order ids that a result shows, by the column that fits the family best."""
    expected = dump.expected[family]
    best = set()
    for values in zip(*rows):
        ids = {i for v in values if (i := _as_id(v)) is not None}
        texts = [str(v) for v in values]
        if any(re.fullmatch(r"[\d,\s]+", t) and "," in t for t in texts):
            ids = {int(i) for t in texts for i in re.findall(r"\d{1,18}", t)}
        if ids and ids <= expected and len(ids) > len(best):
            best = ids
        wanted = Counter(dump.numbers[i] for i in expected)
        if family == "duplicate" and set(texts) == set(dump.groups):
            return set(expected)
        if Counter(texts) == wanted:
            return set(expected)
        named = {i for i in expected if dump.numbers[i] in texts and list(wanted.elements()).count(dump.numbers[i]) == 1}
        if named and len(named) == len(texts) and len(named) > len(best):
            best = named
    return best


def statements(evidence, references):
    """The script's SELECTs run on the dump and bring up the rows of all four rules."""
    dump = _dump(evidence, references)
    found = {f: set() for f in FAMILIES}
    for statement, columns, rows in _run(dump, evidence.text(SQL_FILE)):
        for named, part in _split_by_label(columns, rows).items():
            for family in FAMILIES:
                if named in (None, family) and re.search(_SPEAKS_OF[family], statement, re.I):
                    found[family] |= _covered(dump, statement, columns, part, family)
    lacking = [f for f in FAMILIES if found[f] != dump.expected[f]]
    said = f"not reproduced: {', '.join(lacking)}" if lacking else "the statements reproduce all four"
    return {"value": float(not lacking), "reason": said, "evidence": [SQL_FILE]}


def _covered(dump, statement, columns, rows, family):
    expected = dump.expected[family]
    ids = _ids_in(dump, columns, rows, family)
    if ids == expected and len(rows) <= max(len(expected), 2 * len(expected) if family == "duplicate" else 0):
        return ids
    if family == "orphan" and ids and len(rows) == len(ids):
        return ids
    counted = len(rows) == 1 and len(rows[0]) == 1 and re.search(r"count\s*\(", statement, re.I)
    sizes = {len(expected), len(dump.groups) if family == "duplicate" else len(expected)}
    if counted and rows[0][0] in sizes and re.search(_PREDICATE[family], statement, re.I | re.S):
        return set(expected)
    projected = len(rows) in sizes and re.search(_PREDICATE[family], statement, re.I | re.S)
    return set(expected) if projected and family != "orphan" else set()


_PREDICATE = {
    "price": r"unit_price\s*<\s*0",
    "duplicate": r"order_number.*count\s*\(|count\s*\(.*order_number",
    "orphan": r"customers.*products|products.*customers",
    "window": r"ordered_at[^;]*(>|<|between|like|strftime)",
}


# --- caps --------------------------------------------------------------------------------


def nothing_delivered(evidence, references):
    """1 when none of the three files holds anything that can be read."""
    usable = []
    if _report(evidence):
        usable.append(JSON_FILE)
    if _table(evidence.text(CSV_FILE))[1]:
        usable.append(CSV_FILE)
    if _statements(evidence.text(SQL_FILE)):
        usable.append(SQL_FILE)
    said = f"usable: {', '.join(usable)}" if usable else "no deliverable can be read"
    return {"value": float(not usable), "reason": said, "evidence": usable}


def auxiliary_missing(evidence, references):
    """1 when the row list or the script is absent or empty."""
    lacking = [f for f in (CSV_FILE, SQL_FILE) if not (evidence.text(f) or "").strip()]
    said = f"absent: {', '.join(lacking)}" if lacking else "both are there"
    return {"value": float(bool(lacking)), "reason": said}


def invented_rows(evidence, references, inflation=0.5):
    """1 when a category names rows the dump does not have, or far more rows than break the rule."""
    dump = _dump(evidence, references)
    report = _report(evidence)
    groups = _groups(report)
    for family in FAMILIES:
        _, named = _named(groups, family, dump)
        if named.unknown:
            return {"value": 1.0, "reason": f"not in the dump: {_short(named.unknown)}", "evidence": [JSON_FILE]}
        right = len(dump.expected[family])
        claims = [len(named.ids) + sum(named.numbers.values()) if named.ids != dump.expected[family] else right]
        if family == "duplicate":
            claims = [len(named.ids)] if named.ids else []
            if len(named.shown) >= (1 + inflation) * len(dump.groups):
                return {"value": 1.0, "reason": f"{len(named.shown)} duplicate numbers", "evidence": [JSON_FILE]}
        claims += [count for number, count in named.counts if number is None]
        claims += _summary_counts(report, family)
        if any(claim >= (1 + inflation) * right for claim in claims):
            said = f"{family}: {max(claims)} rows claimed where {right} break the rule"
            return {"value": 1.0, "reason": said, "evidence": [JSON_FILE]}
    return {"value": 0.0, "reason": "every category keeps to the dump"}


def _summary_counts(node, family, inside=False):
    """Numbers that a summary gives for one family."""
    if not isinstance(node, dict):
        return []
    found = []
    for key, value in node.items():
        name = _key(key)
        summing = inside or bool(re.search(r"summar|counts?$|totals?$", name))
        if isinstance(value, dict):
            found += _summary_counts(value, family, summing)
        elif isinstance(value, int) and not isinstance(value, bool) and summing and _family(name) == family:
            found.append(value)
    return found
