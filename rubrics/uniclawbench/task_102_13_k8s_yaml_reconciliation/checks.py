"""Code checks for the audit of the configuration repository: conflicts found, effective state.

Expected values come from the reference file, the literal image tags from the task's own
sources. No expected value is written here.
"""

import json
import re
from typing import NamedTuple

CONFLICTS, RESOLVED, METHOD = "yaml_conflicts.json", "yaml_resolved.json", "yaml_method.json"
_OVERLAYS = ("staging", "prod")
_ENVIRONMENTS = {"base": r"\bbase\b", "staging": r"\bstag(e|ing)\b", "prod": r"\bprod(uction)?\b"}


def _load(evidence, path):
    text = evidence.text(path)
    try:
        return None if text is None else json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None


def _words(text):
    """A key as words: `effectiveValue`, `effective_value` and `Effective value` alike."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", str(text))
    return re.sub(r"[_\-\s/]+", " ", text).lower()


def _flat(node):
    """All keys and values of a node as one text."""
    if isinstance(node, dict):
        return " ; ".join(f"{k}: {_flat(v)}" for k, v in node.items())
    if isinstance(node, list):
        return " ; ".join(map(_flat, node))
    return json.dumps(node) if isinstance(node, (bool, type(None))) else str(node)


def _token(value):
    """A pattern for a value that stands alone."""
    return rf"(?<![\w.-]){re.escape(str(value))}(?![\w-]|\.\d)"


# --- what the reference says -------------------------------------------------------------


class _Truth(NamedTuple):
    conflicts: dict[str, dict]
    """By the first part of their id."""
    wanted: tuple[str, ...]
    images: dict[str, str]
    configmaps: dict[str, dict]
    minimum: int
    literal: dict[str, str]
    """Tag that each overlay's patch writes."""


def _truth(evidence, references):
    raw = references.json("references/ground_truth.json")
    anchors = raw["scoring_anchors"]
    literal = {}
    for overlay in _OVERLAYS:
        patch = evidence.source(f"k8s_config/overlays/{overlay}/patch.yaml").read_text(encoding="utf-8")
        literal[overlay] = re.search(r"image:\s*\S+:([\w.-]+)", patch)[1]
    return _Truth(
        {c["id"].split("_")[0]: c for c in raw["conflicts"]},
        tuple(i.split("_")[0] for i in anchors["must_find_conflicts"]),
        raw["effective_images"],
        raw["effective_configmaps"],
        anchors["minimum_conflicts_for_credit"],
        literal,
    )


# --- the conflicts that were reported ----------------------------------------------------

_TAKES = re.compile(
    r"effect|actual|resolved|winn|\bwins|final|deployed|applied|result|\bkept\b|parse[sd]|\breal\b|rendered|live|\bused\b|current"
)
_LOSES = re.compile(
    r"shadow|overrid|overwrit|ignored|los(er|t|ing)|written|literal|declared|discard|suppress|original|intended|expected|pinned|previous|conflicting|appears?|\bnot\b|source text"
)


class _Entry(NamedTuple):
    text: str
    effective: str
    """What its fields for the effective value say; empty when it has none."""


def _effective(node):
    if isinstance(node, list):
        return " ; ".join(filter(None, map(_effective, node)))
    if not isinstance(node, dict):
        return ""
    said = []
    for key, value in node.items():
        takes, loses = _TAKES.search(_words(key)), _LOSES.search(_words(key))
        if takes and not loses:
            said.append(_flat_effective(value))
        elif takes or not loses:
            said.append(_effective(value))
    return " ; ".join(filter(None, said))


def _flat_effective(node):
    """A value in force, without members that name what lost."""
    if isinstance(node, dict):
        kept = {k: v for k, v in node.items() if not _LOSES.search(_words(k))}
        return " ; ".join(f"{k}: {_flat_effective(v)}" for k, v in kept.items())
    return _flat(node)


def _entries(node, heading=""):
    """The reported conflicts, in a list, under headings, or keyed by name."""
    if isinstance(node, list):
        for item in node:
            yield _Entry(f"{heading} ; {_flat(item)}".lower(), _effective(item).lower())
    elif isinstance(node, dict):
        if any(isinstance(v, (list, dict)) for v in node.values()) and not _is_entry(node):
            for key, value in node.items():
                yield from _entries(value, f"{heading} {key}")
        elif node:
            yield _Entry(f"{heading} ; {_flat(node)}".lower(), _effective(node).lower())


def _is_entry(node):
    """Whether an object is one conflict itself rather than a holder of some."""
    scalars = sum(isinstance(v, (str, bool, int, float)) for v in node.values())
    if any(re.search(r"^(conflicts|findings|issues|results|items|entries)$", _words(k)) for k in node):
        return False
    own = any(re.search(r"^(id|type|name|kind|why|explanation|object|files?|key)$", _words(k)) for k in node)
    return own and scalars >= 2


def _at_right_place(entry, conflict):
    """Whether an entry names a right file, or without any file a right object."""
    files = conflict.get("files") or [conflict["file"]]
    named = set(re.findall(r"[\w./-]+\.ya?ml", entry.text))
    if named:
        ends = {f.rsplit("/", 2)[-2] + "/" + f.rsplit("/", 1)[-1] for f in files}
        bare = {f.rsplit("/", 1)[-1] for f in files}
        return any(n.endswith(tuple(ends)) or n in bare for n in named)
    objects = conflict.get("objects") or [conflict["object"]]
    kinds = [o.split("/")[0].lower() for o in objects]
    return any(k in entry.text for k in kinds) or ("hpa" in entry.text and "horizontalpodautoscaler" in kinds)


def _part_for(text, environment):
    """The part of a text that speaks of one environment, when it tells them apart."""
    marks = sorted(
        (m.start(), name) for name, p in _ENVIRONMENTS.items() for m in re.finditer(rf"{p}[\w\s]*:", text)
    )
    if not any(name == environment for _, name in marks):
        return text
    ends = [*(start for start, _ in marks[1:]), len(text)]
    return " ".join(text[s:e] for (s, name), e in zip(marks, ends) if name == environment)


def _states(entry, good, bad, environment=None):
    """True when an entry says that `good` is in force, False when it says `bad` is, else None."""
    if not re.search(good, entry.text) or not re.search(bad, entry.text):
        if entry.effective and re.search(bad, entry.effective) and not re.search(good, entry.text):
            return False
        return None
    said = _part_for(entry.effective, environment) if environment else entry.effective
    right, wrong = re.search(good, said), re.search(bad, said)
    if right or wrong:
        return bool(right) and (not wrong or right.start() < wrong.start())
    claim = (
        rf"(?:effective(?: value)?|takes effect|in force|resolves to|final value)(?: is)?[\s:=\"'`(*]*{bad}"
        rf"|{bad}[\"'`)*]*\s+(?:wins|takes effect|is effective|is in force|is the effective)"
    )
    return None if entry.effective else re.search(claim, entry.text) is None


def _about_duplicate(entry, conflict):
    key = conflict["key"].rsplit(".", 1)[-1].lower()
    return key in entry.text and re.search(
        r"dup|twice|two|repeat|redefin|multiple|shadow|second|both|last", entry.text
    )


def _duplicate(entry, conflict):
    if not _about_duplicate(entry, conflict):
        return None
    state = _states(entry, _token(conflict["effective_value_in_base"]), _token(conflict["shadowed_value"]))
    other = "deployment" in entry.text or not re.search(r"dup|twice", entry.text)
    return None if state is False and other else state


def _coercion(entry, conflict):
    name = re.search(r"\[(\w+)\]\.value|(\w+)$", conflict["key"])
    if (name[1] or name[2]).lower() not in entry.text:
        return None
    parsed = str(conflict["parsed_as"]).lower()
    good, bad = rf"\b{parsed}\b|\bbool", _token(conflict["intended_string"])
    if not re.search(good, entry.text) or not re.search(r"bool|type|coer|1\.1|quot|pars", entry.text):
        return None
    state = _states(entry, good, bad)
    if state is None and entry.effective and not re.search(bad, entry.effective):
        return True
    return state


def _image(entry, environment, truth):
    if not re.search(_ENVIRONMENTS[environment], entry.text.replace("_", " ")) or not re.search(r"image|tag", entry.text):
        return None
    good, bad = _token(_tag(truth.images[environment])), _token(truth.literal[environment])
    return _states(entry, good, bad, environment)


def _tag(image):
    return image.rsplit(":", 1)[-1]


_GOVERNED = re.compile(r"hpa|autoscal|govern|unmanaged|min\w*\W+\w*\W*\d+.*max")


def _about_scaling(entry):
    plain = entry.text.replace("_", " ")
    return "replica" in plain and re.search(r"hpa|autoscal", plain) is not None


def _scaling(entry, conflict):
    if not _about_scaling(entry):
        return None
    numbers = (conflict["pinned_replicas"], conflict["hpa_min"], conflict["hpa_max"])
    whole = all(re.search(rf"(?<![\d.]){n}(?![\d.]\d|\d)", entry.text) for n in numbers)
    if entry.effective and not _GOVERNED.search(entry.effective):
        pinned = re.search(rf"(?<!\d){conflict['pinned_replicas']}(?!\d)", entry.effective)
        ranged = all(re.search(rf"(?<!\d){n}(?!\d)", entry.effective) for n in numbers[1:])
        return False if pinned and not ranged else whole or None
    return True if whole else None


def _kinds(entry, truth):
    """How many different conflicts an entry touches; one that touches all is no finding."""
    keys = {c["key"] for c in truth.conflicts.values() if "key" in c}
    names = {n for k in keys for n in re.findall(r"[A-Z]+_[A-Z_]+", k)}
    plain = entry.text.replace("_", " ")
    touched = [n.lower() in entry.text for n in sorted(names)]
    return sum([*touched, bool(_about_scaling(entry)), re.search(r"\b(image|tag)s?\b", plain) is not None])


def _verdict(name, entry, truth):
    conflict = truth.conflicts[name]
    if "effective_value_in_base" in conflict:
        state = _duplicate(entry, conflict)
    elif "parsed_as" in conflict:
        state = _coercion(entry, conflict)
    elif "pinned_replicas" in conflict:
        state = _scaling(entry, conflict)
    else:
        environment = next(e for e in _OVERLAYS if f"effective_image_{e}" in conflict)
        state = _image(entry, environment, truth)
    return None if state and not _at_right_place(entry, conflict) else state


def _found(evidence, truth):
    """Conflict -> True (reported rightly), False (reported with the wrong value in force), None."""
    entries = [e for e in _entries(_load(evidence, CONFLICTS)) if _kinds(e, truth) < 3]
    found = {}
    for name in truth.wanted:
        states = [_verdict(name, entry, truth) for entry in entries]
        found[name] = False if False in states else True if True in states else None
    return found


def _right(found):
    return [name for name, state in found.items() if state]


def conflicts_found(evidence, references):
    """How many of the conflicts that must be found are reported with place and values."""
    truth = _truth(evidence, references)
    found = _found(evidence, truth)
    right = _right(found)
    value = len(right) / len(found) if len(right) >= truth.minimum else 0.0
    lacking = [truth.conflicts[n]["type"] + (" (wrong value)" if s is False else "") for n, s in found.items() if not s]
    said = f"{len(right)} of {len(found)} reported rightly"
    said += f"; not: {', '.join(lacking)}" if lacking else ""
    return {"value": value, "reason": said, "evidence": [CONFLICTS]}


# --- the effective state that was reported -----------------------------------------------


def _of_environment(node, environment, path=()):
    """(path, node) of everything that stands under a name of the environment."""
    if isinstance(node, dict):
        labels = [str(v) for k, v in node.items() if _words(k) in ("environment", "env", "name", "overlay", "id")
                  and isinstance(v, str)]
        if any(_is_name(label, environment) for label in labels):
            yield path, node
            return
        for key, value in node.items():
            if _is_name(key, environment):
                yield path, value
            elif not any(_is_name(key, other) for other in _ENVIRONMENTS):
                yield from _of_environment(value, environment, (*path, _words(key)))
    elif isinstance(node, list):
        for item in node:
            yield from _of_environment(item, environment, path)


def _is_name(text, environment):
    words = _words(text)
    named = [e for e, p in _ENVIRONMENTS.items() if re.search(p, words)]
    if len(named) > 1:
        named = [e for e in named if e != "base"]
    return named == [environment] and len(words.split()) <= 4


def _leaves(node, path=()):
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _leaves(value, (*path, _words(key)))
    elif isinstance(node, list):
        for item in node:
            yield from _leaves(item, path)
    else:
        yield path, node


def _tables(node, path=()):
    """(path, {key: value}) of every mapping, and of lists of names with values."""
    if isinstance(node, dict):
        yield path, node
        for key, value in node.items():
            yield from _tables(value, (*path, _words(key)))
    elif isinstance(node, list):
        pairs = {}
        for item in node:
            if isinstance(item, dict):
                name = item.get("key", item.get("name"))
                if isinstance(name, str) and "value" in item:
                    pairs[name] = item["value"]
        if pairs:
            yield path, pairs
        for item in node:
            yield from _tables(item, path)


def _configmap(document, environment, keys):
    """The reported data of the configuration map in one environment."""
    tables = [
        (path, table)
        for start, node in _of_environment(document, environment)
        for path, table in _tables(node, start)
        if any(str(k).upper() in keys for k in table)
    ]
    ranked = sorted(
        tables,
        key=lambda t: (
            any(_LOSES.search(p) or p in ("env", "containers") for p in t[0]),
            -sum(str(k).upper() in keys for k in t[1]),
        ),
    )
    return {str(k): v for k, v in ranked[0][1].items()} if ranked else {}


def _value(reported):
    if isinstance(reported, dict):
        inner = next((reported[k] for k in reported if _words(k) in ("value", "effective", "effective value")), None)
        return _value(inner) if inner is not None else ""
    if isinstance(reported, bool):
        return str(reported).lower()
    text = "" if reported is None else str(reported).strip().strip("\"'")
    return text.lower() if text.lower() in ("true", "false") else text


def _same(reported, expected):
    said = _value(reported)
    return said == expected or re.match(rf"{re.escape(expected)}[\"']?\s*[(\[#]", said) is not None


def configmaps(evidence, references):
    """The configuration data of both overlays, and the base's repeated key, are right."""
    truth = _truth(evidence, references)
    document = _load(evidence, RESOLVED)
    wrong = []
    for environment in _OVERLAYS:
        expected = truth.configmaps[environment]
        reported = _configmap(document, environment, expected)
        wrong += [f"{environment}.{k}" for k, v in expected.items() if not _same(reported.get(k), v)]
        wrong += [f"{environment}.{k}" for k in reported if k.isupper() and k not in expected]
    key = _repeated_key(truth)
    reported = _configmap(document, "base", truth.configmaps["base"])
    if not _same(reported.get(key), truth.configmaps["base"][key]):
        wrong.append(f"base.{key}")
    said = f"wrong or missing: {', '.join(wrong[:6])}" if wrong else "all values right"
    return {"value": float(not wrong), "reason": said, "evidence": [RESOLVED]}


def _repeated_key(truth):
    conflict = next(c for c in truth.conflicts.values() if "effective_value_in_base" in c)
    return conflict["key"].rsplit(".", 1)[-1]


_NOT_IN_FORCE = re.compile(_LOSES.pattern + r"|\bpatch|\bbase\b|note|reason|why|expla|comment|sidecar|metrics|source|\bfrom\b|detail|conflict")


def _images(document, environment, truth):
    """Tags that the report gives as the effective image; a wrong repository counts as itself."""
    repository = truth.images[environment].rsplit(":", 1)[0]
    name = repository.rsplit("/", 1)[-1]
    found = set()
    for start, node in _of_environment(document, environment):
        for path, leaf in _leaves(node, start):
            spoken = any(re.search(r"image|tag", p) for p in path)
            if not isinstance(leaf, str) or not spoken or any(_NOT_IN_FORCE.search(p) for p in path):
                continue
            match = re.search(rf"([\w.\-/]*\b{re.escape(name)}):([\w.-]*\w)", leaf)
            if match:
                found.add(match[2] if repository.endswith(match[1]) else match[0])
            elif bare := re.match(r"v?\d+\.\d+[\w.-]*(?=$|\s)", leaf.strip()):
                found.add(bare[0])
    return found


def images(evidence, references):
    """Both overlays' effective images are those of the transformer."""
    truth = _truth(evidence, references)
    document = _load(evidence, RESOLVED)
    wrong = [e for e in _OVERLAYS if _images(document, e, truth) != {_tag(truth.images[e])}]
    said = f"not the effective image: {', '.join(wrong)}" if wrong else "both images right"
    return {"value": float(not wrong), "reason": said, "evidence": [RESOLVED]}


def _prod_replicas(document):
    """What the report says of the replicas in production, as one text; empty when nothing."""
    said = []
    for start, node in _of_environment(document, "prod"):
        if any(re.search("replica|scal|hpa", p) for p in start):
            said.append(_flat(node))
        elif isinstance(node, dict):
            said += [
                f"{k}: {_flat(v)}" for k, v in node.items() if re.search(r"replica|scal|hpa|govern", _words(k))
            ]
            said += [f"{'.'.join(p)}: {_flat(v)}" for p, v in _leaves(node)
                     if len(p) > 1 and re.search(r"replica|scal|hpa", p[-1])]
    return " ; ".join(said).lower()


def scaling(evidence, references):
    """The pinned replica count under the autoscaler is told for what it is."""
    truth = _truth(evidence, references)
    conflict = next(c for c in truth.conflicts.values() if "pinned_replicas" in c)
    entries = [e for e in _entries(_load(evidence, CONFLICTS)) if _about_scaling(e)]
    resolved = _prod_replicas(_load(evidence, RESOLVED))
    if any(_scaling(e, conflict) is False for e in entries):
        return {"value": 0.0, "reason": "the pinned count is reported as in force", "evidence": [CONFLICTS]}
    if re.search(r"\d", resolved) and not re.search(r"hpa|autoscal", resolved):
        return {"value": 0.0, "reason": "production has a static count in the resolved state", "evidence": [RESOLVED]}
    text = " ; ".join([*(e.text for e in entries), resolved])
    limits = (conflict["hpa_min"], conflict["hpa_max"])
    bounded = all(re.search(rf"(?<!\d){n}(?!\d)", text) for n in limits)
    told = re.search(
        r"should(n't| not)|must(n't| not)|do(n't| not)|remov|omit|drop|delete|unpin|not (be )?(pinned|set|static)"
        r"|unmanaged|govern|control|manage|own[s ]|fight|thrash|overrid|supersede|ignored|null",
        text,
    )
    right = bounded and re.search(r"hpa|autoscal", text) and told
    said = "the autoscaler governs" if right else "not told that the autoscaler governs, with its bounds"
    return {"value": float(bool(right)), "reason": said, "evidence": [CONFLICTS, RESOLVED]}


# --- was it parsed -----------------------------------------------------------------------

_PARSER = (
    r"pyyaml|yaml\.\w*load|safe_?load|import yaml|ruamel|\byq\b|kustomize build|kubectl kustomize|js-yaml|yaml\.parse"
    r"|yaml\.compose|psych|\boyaml\b|strictyaml|go-yaml|yaml\.v[23]|snakeyaml|(own|custom|hand-?written|minimal|small|bespoke)\W+(\w+\W+)?(yaml\W+)?(parser|loader)"
    r"|yaml (parser|loader|library|module)"
)
_UNUSED = re.compile(rf"\b(without|no|not|never|didn't|did not|instead of|unavailable)\W+(?:\w+\W+){{0,3}}?(?:{_PARSER})", re.I)


def _tells_parser(text):
    return re.search(_PARSER, _UNUSED.sub(" ", text), re.I) is not None


def _calls(evidence):
    return [json.dumps(e.get("arguments") or {}) for e in evidence.events if e.get("kind") == "tool_call"]


def method(evidence, references):
    """The method file names the parser or commands, and the trajectory does not belie it."""
    text = _flat(_load(evidence, METHOD) or "")
    told = _tells_parser(text) and len(text.split()) >= 8
    calls = _calls(evidence)
    belied = bool(calls) and not any(re.search(r"import yaml|yaml\.\w|\byq\b|kustomize (?!version)|python|node|ruby|perl", c) for c in calls)
    said = "no parser is named" if not told else "no call runs anything that parses" if belied else "parsing is shown"
    return {"value": float(told and not belied), "reason": said, "evidence": [METHOD]}


def eyeballed(evidence, references):
    """1 when nothing shows that the files were parsed and a conflict only parsing shows is missed."""
    truth = _truth(evidence, references)
    parsed = _tells_parser(_flat(_load(evidence, METHOD) or "")) or any(
        re.search(_PARSER, c, re.I) for c in _calls(evidence)
    )
    hidden = [n for n in truth.wanted if "pinned_replicas" not in truth.conflicts[n]]
    found = _found(evidence, truth)
    missed = [truth.conflicts[n]["type"] for n in hidden if not found[n]]
    said = f"parsed: {'yes' if parsed else 'no'}; missed: {', '.join(missed) or 'none'}"
    return {"value": float(not parsed and bool(missed)), "reason": said}


# --- caps --------------------------------------------------------------------------------


def output_missing(evidence, references):
    """1 when the conflict list or the resolved state is missing or cannot be read."""
    lacking = [f for f in (CONFLICTS, RESOLVED) if _load(evidence, f) is None]
    said = f"missing: {', '.join(lacking)}" if lacking else "both are there"
    return {"value": float(bool(lacking)), "reason": said}


def few_conflicts(evidence, references):
    """1 when fewer conflicts than the reference's minimum are reported rightly."""
    truth = _truth(evidence, references)
    right = _right(_found(evidence, truth))
    said = f"{len(right)} reported rightly, {truth.minimum} needed"
    return {"value": float(len(right) < truth.minimum), "reason": said, "evidence": [CONFLICTS]}


def wrong_image(evidence, references):
    """1 when another tag than the transformer's is reported as the effective image."""
    truth = _truth(evidence, references)
    document = _load(evidence, RESOLVED)
    wrong = []
    for environment in _OVERLAYS:
        if others := _images(document, environment, truth) - {_tag(truth.images[environment])}:
            wrong.append(f"{environment}: {', '.join(sorted(others))}")
    for name, state in _found(evidence, truth).items():
        if state is False and any(k.startswith("effective_image_") for k in truth.conflicts[name]):
            wrong.append(truth.conflicts[name]["type"])
    said = f"reported as effective: {'; '.join(wrong)}" if wrong else "no wrong image is reported as effective"
    return {"value": float(bool(wrong)), "reason": said, "evidence": [RESOLVED, CONFLICTS]}


def wrong_duplicate(evidence, references):
    """1 when the shadowed value of the repeated key is reported as the base's."""
    truth = _truth(evidence, references)
    conflict = next(c for c in truth.conflicts.values() if "effective_value_in_base" in c)
    reported = _configmap(_load(evidence, RESOLVED), "base", truth.configmaps["base"])
    wrong = _same(reported.get(_repeated_key(truth)), conflict["shadowed_value"])
    name = next(n for n, c in truth.conflicts.items() if c is conflict)
    wrong = wrong or _found(evidence, truth)[name] is False
    said = "the shadowed value is reported" if wrong else "the shadowed value is not reported"
    return {"value": float(wrong), "reason": said, "evidence": [RESOLVED, CONFLICTS]}
