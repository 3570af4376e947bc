"""Writes a report: HTML, Markdown, LaTeX tables, and figures with their data."""

import csv
import html
import io
import json
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Literal

import jinja2
import vl_convert
from pydantic import JsonValue

from uniclaw.errors import UserError
from uniclaw.report.model import Figure, Report, Table

Format = Literal["html", "md", "latex", "figures"]
FORMATS: tuple[Format, ...] = ("html", "md", "latex", "figures")
PNG_SCALE = 2.0
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "−": "$-$",
    "·": r"$\cdot$",
}


def write_report(report: Report, out: Path, formats: Collection[Format]) -> list[Path]:
    """Write a report into a directory.

    Args:
        report: what to write.
        out: made if absent; files of the same names in it are replaced.
        formats: which forms.

    Returns:
        The files written.

    Raises:
        UserError: `out` cannot be a directory.
    """
    if out.exists() and not out.is_dir():
        raise UserError("not a directory", field="out", value=str(out))
    drawn = {figure.name: draw_svg(figure) for figure in report.figures}
    makers: dict[Format, Callable[[], dict[str, bytes]]] = {
        "html": lambda: {"report.html": to_html(report, drawn).encode()},
        "md": lambda: {"report.md": to_markdown(report).encode()},
        "latex": lambda: {f"tables/{t.name}.tex": to_latex(t).encode() for t in report.tables},
        "figures": lambda: _figure_files(report, drawn),
    }
    files: dict[str, bytes] = {f"tables/{t.name}.csv": to_csv(t) for t in report.tables}
    if "md" in formats:
        files |= {f"figures/{name}.svg": svg.encode() for name, svg in drawn.items()}
    for name in formats:
        files |= makers[name]()
    for name, data in files.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return [out / name for name in sorted(files)]


def draw_svg(figure: Figure) -> str:
    """A figure as SVG."""
    return vl_convert.vegalite_to_svg(json.dumps(figure.spec))


def _figure_files(report: Report, drawn: dict[str, str]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for figure in report.figures:
        spec, place = json.dumps(figure.spec), f"figures/{figure.name}"
        files[f"{place}.svg"] = drawn[figure.name].encode()
        files[f"{place}.png"] = vl_convert.vegalite_to_png(spec, scale=PNG_SCALE)
        files[f"{place}.pdf"] = vl_convert.vegalite_to_pdf(spec)
        files[f"{place}.vl.json"] = json.dumps(figure.spec, ensure_ascii=False, indent=1).encode()
        files[f"{place}.csv"] = _rows_csv(figure)
    return files


def _rows_csv(figure: Figure) -> bytes:
    columns = list(dict.fromkeys(key for row in figure.rows for key in row))
    return _csv(columns, [[row.get(column) for column in columns] for row in figure.rows])


def to_csv(table: Table) -> bytes:
    """A table as CSV, as shown."""
    return _csv(list(table.columns), [list(row) for row in table.rows])


def _csv(columns: "list[str]", rows: "list[list[JsonValue]] | list[list[str]]") -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(["" if value is None else _cell(value) for value in row])
    return text.getvalue().encode()


def _cell(value: JsonValue) -> JsonValue:
    """A text that a spreadsheet would take for a formula is quoted."""
    return (
        f"'{value}"
        if isinstance(value, str) and value[:1] in "=+@\t" and not _number(value)
        else value
    )


def _number(text: str) -> bool:
    head = text.split(" ")[0]
    try:
        float(head)
    except ValueError:
        return False
    return True


def to_markdown(report: Report) -> str:
    """The whole report as Markdown, with links to the figures beside it."""
    parts = [f"# {report.title}", *report.summary]
    for figure in report.figures:
        parts += [f"## {figure.title}", f"![{figure.title}](figures/{figure.name}.svg)"]
        parts.append(figure.caption)
    for table in report.tables:
        parts += [f"## {table.title}", _markdown_table(table), table.note]
    parts += ["## Methods", *report.methods]
    return "\n\n".join(part for part in parts if part) + "\n"


def _markdown_table(table: Table) -> str:
    def line(cells: "tuple[str, ...]") -> str:
        return "| " + " | ".join(html.escape(c).replace("|", "\\|") for c in cells) + " |"

    marks = tuple("---:" if numeric else "---" for numeric in table.numeric)
    return "\n".join([line(table.columns), f"| {' | '.join(marks)} |", *map(line, table.rows)])


def to_latex(table: Table) -> str:
    """A table for a paper (`booktabs`)."""

    def line(cells: "tuple[str, ...]") -> str:
        return (
            " & ".join("".join(_LATEX.get(char, char) for char in cell) for cell in cells) + r" \\"
        )

    columns = "".join("r" if numeric else "l" for numeric in table.numeric)
    body = "\n".join(line(row) for row in table.rows)
    caption = "".join(_LATEX.get(char, char) for char in f"{table.title}. {table.note}".strip())
    return "\n".join(
        [
            "% Needs \\usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{caption}}}",
            rf"\label{{tab:{table.name}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            line(table.columns),
            r"\midrule",
            body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def to_html(report: Report, drawn: dict[str, str]) -> str:
    """One file with everything in it: no script, and nothing is loaded from elsewhere."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("uniclaw.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html").render(report=report, drawn=drawn)
