"""`uniclaw env`."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
AssetsOption = Annotated[Path | None, typer.Option(help="Asset tree to look in first.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


@app.command("list")
def list_images(assets: AssetsOption = None, as_json: JsonOption = False) -> None:
    """List the image recipes and what is built."""
    from uniclaw.assets import Assets, default_roots
    from uniclaw.cli import output
    from uniclaw.runner.images import describe

    found = describe(Assets(default_roots(assets)))
    if as_json:
        output.print_json({"images": [image.model_dump(mode="json") for image in found]})
        return
    for image in found:
        state = f"built, {image.size_bytes / 1e6:.0f} MB" if image.size_bytes else "not built"
        output.print_line(f"{image.name:12} {image.tag:40} {state}  {image.description}")


@app.command("build")
def build(
    names: Annotated[list[str] | None, typer.Argument(help="Recipes; none means all.")] = None,
    harness: Annotated[
        list[str] | None, typer.Option(help="Install this harness on each named recipe.")
    ] = None,
    assets: AssetsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build images; what exists under its content address is reused."""
    from uniclaw.assets import Assets, default_roots
    from uniclaw.cli import output
    from uniclaw.environments.layers import layered
    from uniclaw.runner.images import build_all

    wanted = names or []
    if harness:
        wanted = [layered(name, layer) for name in wanted or ["base"] for layer in harness]
    built = build_all(wanted, Assets(default_roots(assets)), progress=output.note)
    if as_json:
        output.print_json({"images": [image.model_dump(mode="json") for image in built]})
        return
    for image in built:
        size, seconds = (image.size_bytes or 0) / 1e6, image.seconds or 0.0
        output.print_line(f"{image.name:12} {image.tag:40} {size:6.0f} MB  {seconds:7.1f} s")


@app.command("test")
def run_self_tests(
    names: Annotated[list[str] | None, typer.Argument(help="Recipes.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All recipes that are built.")] = False,
    assets: AssetsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run the recipes' self-tests in containers without network."""
    from uniclaw.assets import Assets, default_roots
    from uniclaw.cli import output
    from uniclaw.runner.images import self_test_all

    results = self_test_all(
        names or (), Assets(default_roots(assets)), everything=everything, progress=output.note
    )
    failed = [r for r in results if not r.ok]
    if as_json:
        output.print_json({"images": [r.model_dump(mode="json") for r in results]})
    else:
        for result in results:
            output.print_line(f"{result.name:12} {'ok' if result.ok else 'FAILED'}")
    raise typer.Exit(1 if failed else 0)
