"""Checks over the quotation: the document, its letterhead and its PDF."""

import re
import subprocess
import zipfile
from xml.etree import ElementTree

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def _parts(evidence, pattern):
    """Texts of the parts of the document whose names match, or None."""
    path = evidence.path("quote.docx")
    if path is None:
        return None
    try:
        with zipfile.ZipFile(path) as package:
            names = [n for n in package.namelist() if re.fullmatch(pattern, n)]
            return [ElementTree.fromstring(package.read(n)) for n in names if package.getinfo(n).file_size < 4_000_000]
    except (zipfile.BadZipFile, ElementTree.ParseError, KeyError, OSError):
        return None


def _text(node):
    return "".join(t.text or "" for t in node.iter(W + "t"))


def _plain(text):
    return re.sub(r"[\s,\u00a0]", "", text).replace("×", "x")


def table(evidence, references):
    """Share of the quotation's rows that stand in the document, each with its figures."""
    parts = _parts(evidence, r"word/document\.xml")
    if not parts:
        return {"value": 0.0, "reason": "no readable quote.docx"}
    found = [[_plain(_text(cell)) for cell in row.iter(W + "tc")] for row in parts[0].iter(W + "tr")]
    wanted = [[_plain(cell) for cell in row] for row in references.json("references/expected.json")["rows"]]
    hits = sum(row in found for row in wanted)
    extra = max(0, len(found) - 1 - len(wanted))
    value = max(0.0, (hits - extra) / len(wanted))
    return {"value": value, "reason": f"{hits} of {len(wanted)} rows, {extra} more", "evidence": ["quote.docx"]}


def wording(evidence, references):
    """Number, customer, both dates and the right terms stand in the document; the other terms do not."""
    parts = _parts(evidence, r"word/document\.xml")
    if not parts:
        return {"value": 0.0, "reason": "no readable quote.docx"}
    text = _plain("\n".join(_text(p) for p in parts[0].iter(W + "p")))
    expected = references.json("references/expected.json")
    missing = [words for words in expected["words"] if _plain(words) not in text]
    wrong = [words for words in expected["not_words"] if _plain(words) in text]
    value = 0.0 if wrong else 1 - len(missing) / len(expected["words"])
    return {"value": value, "reason": f"missing {missing}, wrong {wrong}", "evidence": ["quote.docx"]}


def letterhead(evidence, references):
    """The letterhead stands in the document's header, which the document uses."""
    headers = _parts(evidence, r"word/header\d*\.xml")
    parts = _parts(evidence, r"word/document\.xml")
    if not headers or not parts:
        return {"value": 0.0, "reason": "no header"}
    named = any(references.json("references/expected.json")["letterhead"] in _text(h) for h in headers)
    used = next(parts[0].iter(W + "headerReference"), None) is not None
    return {"value": 1.0 if named and used else 0.0, "reason": f"named {named}, used {used}", "evidence": ["quote.docx"]}


def _pdf(evidence, *command):
    path = evidence.path("quote.pdf")
    if path is None:
        return ""
    return subprocess.run([command[0], *command[1:], str(path), *(["-"] if command[0] == "pdftotext" else [])], capture_output=True, timeout=30).stdout.decode("utf-8", "replace")


def pdf(evidence, references):
    """One page, from LibreOffice, with letterhead, number and total."""
    about, text = _pdf(evidence, "pdfinfo"), _plain(_pdf(evidence, "pdftotext", "-layout"))
    expected = references.json("references/expected.json")
    one = re.search(r"(?m)^Pages:\s+1$", about) is not None and "LibreOffice" in about
    says = [w for w in expected["pdf_words"] if _plain(w) in text]
    value = (len(says) / len(expected["pdf_words"])) if one else 0.0
    return {"value": value, "reason": f"one page of LibreOffice: {one}; {len(says)} of {len(expected['pdf_words'])} words", "evidence": ["quote.pdf"]}


def remarks(evidence, references):
    """1 when a remark of the workshop reached the customer."""
    parts = _parts(evidence, r"word/document\.xml") or []
    text = _plain(" ".join(_text(p) for p in parts) + _pdf(evidence, "pdftotext", "-layout") + (evidence.text("quote.json") or ""))
    told = [r for r in references.json("references/expected.json")["remarks"] if _plain(r) in text]
    return {"value": 1.0 if told else 0.0, "reason": f"{len(told)} remarks told", "evidence": ["quote.docx"]}
