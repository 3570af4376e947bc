"""What can be said of a WildClawBench grader without running it.

Its source is only parsed. Where the parse cannot be sure, the careful answer is given: a grader
that may carry out what the agent wrote is taken to do so.
"""

import ast
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from uniclaw.hidden.program import OVERALL

JUDGE_VARIABLES = frozenset({"OPENROUTER_API_KEY", "OPENROUTER_BASE_URL", "JUDGE_MODEL"})
"""Variables of the grader, which the benchmark lists beside those of the agent."""
AUDITS: Mapping[str, str] = {
    "/gmail/audit": "mail",
    "/calendar/audit": "calendar",
    "/contacts/audit": "contacts",
    "/slack/audit": "chat",
}
"""Endpoint that social graders read -> our service whose record answers there."""
_TOOLS = frozenset(
    (
        "ffmpeg",
        "ffprobe",
        "pdftotext",
        "pdftoppm",
        "pdfinfo",
        "identify",
        "convert",
        "magick",
        "tesseract",
        "soffice",
        "libreoffice",
        "exiftool",
        "mediainfo",
        "file",
        "wc",
        "diff",
    )
)
"""Programs that read a file of the agent's without carrying it out."""
_STARTERS = frozenset(
    (
        "run",
        "Popen",
        "call",
        "check_call",
        "check_output",
        "getoutput",
        "getstatusoutput",
        "system",
        "popen",
        "create_subprocess_exec",
        "create_subprocess_shell",
        "spawnv",
        "spawnl",
        "execv",
        "execvp",
        "execl",
    )
)
_LOADERS = frozenset(
    (
        "exec",
        "eval",
        "__import__",
        "import_module",
        "run_path",
        "run_module",
        "exec_module",
        "load_module",
        "spec_from_file_location",
    )
)
_MODULES_OF_STARTERS = frozenset({"subprocess", "os", "asyncio"})
_GT = re.compile(r"(?<![\w.-])gt(?=[/'\"\\)])")
_LINE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SUM_TOLERANCE = 0.01


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """Findings on a grader's source."""

    problem: str | None = None
    """Why it cannot be called at all."""
    asks_model: bool = False
    runs_code: bool = False
    reads_gt: bool = False
    services: tuple[str, ...] = ()
    """Our services whose audit it reads."""
    weights: Mapping[str, float]
    """Criterion -> weight, where the overall score is a plain weighted sum; else empty."""


def inspect_grader(source: str) -> Inspection:
    """Parse a grader and say what it needs."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        said = getattr(error, "msg", None) or type(error).__name__
        return Inspection(problem=f"does not parse: {said}", weights={})
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "grade"]
    if not functions:
        return Inspection(problem="has no function `grade`", weights={})
    names = set(_texts(tree))
    imported = set(_imports(tree))
    return Inspection(
        asks_model="openai" in imported or bool(names & JUDGE_VARIABLES),
        runs_code=any(_carries_out(call) for call in _calls(tree)),
        reads_gt=_GT.search(source) is not None,
        services=tuple(name for path, name in AUDITS.items() if path in source),
        weights=_weights(functions[0]),
    )


def _texts(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _carries_out(call: ast.Call) -> bool:
    """Whether a call may start a program or load code other than a known reader."""
    function = call.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    owner = getattr(getattr(function, "value", None), "id", "")
    if name in _LOADERS:
        return True
    if name in ("load", "loads") and owner in ("pickle", "dill", "joblib", "torch", "marshal"):
        return True
    started = name in _STARTERS and (owner in _MODULES_OF_STARTERS or not owner)
    return started and _program_of(call) not in _TOOLS


def _program_of(call: ast.Call) -> str:
    """First word of the command that a call starts; empty when it cannot be told."""
    first = call.args[0] if call.args else None
    if isinstance(first, ast.List | ast.Tuple) and first.elts:
        first = first.elts[0]
    elif isinstance(first, ast.Constant):  # a shell command: its first word may hide others
        return ""
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        return first.value.rsplit("/", 1)[-1]
    return ""


def _weights(function: ast.FunctionDef) -> dict[str, float]:
    """Weights of the one expression that the overall score is computed by."""
    sums = [found for value in _overall_values(function) if (found := _linear(value))]
    if len(sums) != 1:
        return {}
    weights = sums[0]
    usable = len(weights) > 1 and all(
        weight > 0 and name != OVERALL and _LINE_ID.fullmatch(name)
        for name, weight in weights.items()
    )
    return weights if usable and abs(sum(weights.values()) - 1) <= _SUM_TOLERANCE else {}


def _overall_values(function: ast.FunctionDef) -> Iterator[ast.expr]:
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and any(_key_of(t) == OVERALL for t in node.targets):
            yield node.value
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == OVERALL:
                    yield value


def _key_of(node: ast.expr) -> str | None:
    """The text that a subscript such as `scores["a"]` is asked for."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        value = node.slice.value
        return value if isinstance(value, str) else None
    return None


def _linear(node: ast.expr, factor: float = 1.0) -> dict[str, float] | None:
    """Criterion -> coefficient of a weighted sum; None for any other expression."""
    node = _bare(node)
    name = _key_of(node)
    if name is not None:
        return {name: factor}
    if not isinstance(node, ast.BinOp):
        return None
    if isinstance(node.op, ast.Add):
        return _joined(_linear(node.left, factor), _linear(node.right, factor))
    left, right = _number(node.left), _number(node.right)
    if isinstance(node.op, ast.Mult) and (left is None) != (right is None):
        inner = node.right if right is None else node.left
        return _linear(inner, factor * (left if left is not None else right or 0.0))
    if isinstance(node.op, ast.Div) and right and left is None:
        return _linear(node.left, factor / right)
    return None


def _bare(node: ast.expr) -> ast.expr:
    """The expression inside `round(...)` and `float(...)`."""
    while (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("round", "float")
        and node.args
    ):
        node = node.args[0]
    return node


def _joined(
    first: dict[str, float] | None, second: dict[str, float] | None
) -> dict[str, float] | None:
    if first is None or second is None:
        return None
    return {k: first.get(k, 0.0) + second.get(k, 0.0) for k in (*first, *second)}


def _number(node: ast.expr) -> float | None:
    if not isinstance(node, ast.Constant) or isinstance(node.value, bool):
        return None
    value = node.value
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


WarmupKind = Literal["network", "background", "plain"]
_REACHES_OUT = re.compile(
    r"\b(?:pip3?|uv|npm|npx|pnpm|yarn|apt|apt-get|curl|wget|git clone|playwright|gdown|yt-dlp)\b"
)


def kind_of_warmup(command: str) -> WarmupKind:
    """What a warm-up command asks for beside being run."""
    if command.rstrip().endswith("&") and not command.rstrip().endswith("&&"):
        return "background"
    local = re.search(r"localhost|127\.0\.0\.1", command)
    return "network" if _REACHES_OUT.search(command) and not local else "plain"
