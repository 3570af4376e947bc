"""The layers of the design, enforced: imports point down only, and the hidden side stays shut."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "uniclaw"

LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors",),
    ("failpoints",),
    ("records",),
    ("config",),
    ("ports",),
    ("yamlio",),
    ("assets",),
    ("prompts",),
    ("hidden",),
    ("suites",),
    ("pricing",),
    ("environments",),
    ("models",),
    ("gateway",),
    ("harnesses",),
    ("store",),
    ("trajectory",),
    ("pictures",),
    ("supervisor",),
    ("firewall",),
    ("user_simulator",),
    ("episode",),
    ("experiment",),
    ("runner",),
    ("statistics",),
    ("curation",),
    ("report",),
    ("viewer",),
    ("testing",),
    ("cli",),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
NO_HIDDEN = (
    "records",
    "user_simulator",
    "harnesses",
    "environments",
    "gateway",
    "models",
    "trajectory",
    "pictures",
)


def modules() -> list[Path]:
    return sorted(p for p in PACKAGE.rglob("*.py") if "_assets" not in p.parts)


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            if node.module == "uniclaw":
                yield from (f"uniclaw.{alias.name}" for alias in node.names)
            else:
                yield node.module


def rooms_used(path: Path) -> set[str]:
    names = (name.split(".") for name in imported(path))
    return {parts[1] for parts in names if parts[0] == "uniclaw" and len(parts) > 1}


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    own = room(path)
    if own == "__init__":
        assert not rooms_used(path)
        return
    assert own in RANK, f"{own} stands in no layer"
    for used in rooms_used(path) - {own, "__version__"}:
        assert RANK[used] < RANK[own], f"{path.name} ({own}) imports {used}, which is above it"


@pytest.mark.parametrize("name", NO_HIDDEN)
def test_the_agents_side_never_imports_the_hidden_side(name: str) -> None:
    for path in modules():
        if room(path) == name:
            reached = _reach(path, set())
            assert "hidden" not in reached, f"{path} reaches hidden/ through {reached}"


def _reach(path: Path, seen: set[Path]) -> set[str]:
    """Rooms that a module's imports reach, followed through uniclaw's own files."""
    found: set[str] = set()
    for name in imported(path):
        if not name.startswith("uniclaw."):
            continue
        found.add(name.split(".")[1])
        target = _file_of(name)
        if target is not None and target not in seen:
            seen.add(target)
            found |= _reach(target, seen)
    return found


def _file_of(name: str) -> Path | None:
    base = PACKAGE.joinpath(*name.split(".")[1:])
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


def test_every_public_module_says_what_it_is() -> None:
    for path in modules():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), f"{path} has no docstring"


def test_modules_and_functions_stay_small() -> None:
    for path in modules():
        text = path.read_text(encoding="utf-8")
        assert text.count("\n") <= 400, f"{path} has more than 400 lines"
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                assert lines <= 80, f"{path}:{node.lineno} {node.name} has {lines} lines"


def test_broad_excepts_stand_only_at_the_episode_boundary_and_in_the_cli() -> None:
    allowed = {"runner/local.py", "cli/__init__.py"}
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ExceptHandler):
                continue
            broad = node.type is None or (
                isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException")
            )
            if broad and not _reraises(node):
                where = str(path.relative_to(PACKAGE))
                assert where in allowed, f"{path}:{node.lineno} catches everything"


def _reraises(handler: ast.ExceptHandler) -> bool:
    return isinstance(handler.body[-1], ast.Raise) and handler.body[-1].exc is None


def test_langgraph_send_is_never_used() -> None:
    """`Send` bypasses per-node input schemas; one use would open the firewall."""
    for path in modules():
        if any(name.startswith("langgraph") for name in imported(path)):
            names = {
                alias.name
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(node, ast.ImportFrom)
                for alias in node.names
            }
            assert "Send" not in names, path


def test_nothing_of_the_environment_is_read_at_import() -> None:
    for path in modules():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            for inner in ast.walk(node):
                is_read = (
                    isinstance(inner, ast.Call)
                    and isinstance(inner.func, ast.Attribute)
                    and inner.func.attr in ("getenv",)
                )
                assert not is_read, f"{path}:{node.lineno} reads the environment at import"
