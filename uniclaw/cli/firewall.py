"""`uniclaw firewall` and `uniclaw leak`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from uniclaw.statistics.estimates import Estimate

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
AssetTree = Annotated[Path | None, typer.Option(help="Asset tree to look in first.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Policy = Annotated[str, typer.Option(help="Policy in force.")]
SuiteUri = Annotated[str, typer.Option(help="Suite: [FORMAT:]PATH.")]


@app.command("explain")
def explain(policy: str, assets: AssetTree = None, as_json: Json = False) -> None:
    """Which fields can reach the user simulator and the executor under a policy."""
    from uniclaw.assets import Assets, default_roots
    from uniclaw.cli import output
    from uniclaw.runner.firewall_tools import explain_policy

    rows = explain_policy(policy, Assets(default_roots(assets)))
    if as_json:
        output.print_json({"rows": [row.model_dump(mode="json") for row in rows]})
        return
    for row in rows:
        output.print_line(f"{row.field:28} {row.source:44} {row.resolution:28} {row.recipient}")


@app.command("screen")
def screen(
    file: Path,
    suite: SuiteUri,
    policy: Policy = "coarse",
    assets: AssetTree = None,
    as_json: Json = False,
) -> None:
    """Screen lines of {id, task_id, visible, message} against each task's hidden side."""
    from uniclaw.assets import Assets, default_roots
    from uniclaw.cli import output
    from uniclaw.runner.firewall_tools import screen_file
    from uniclaw.store.atomic import to_json

    for line in screen_file(suite, file, policy, Assets(default_roots(assets))):
        output.print_line(to_json(line) if as_json else f"{line.id}  {line.decision}")


@app.command("test")
def measure(
    corpus: Annotated[list[Path] | None, typer.Option(help="JSON lines of probes.")] = None,
    suite: Annotated[list[str] | None, typer.Option(help="Suites of the probes.")] = None,
    assets: AssetTree = None,
    as_json: Json = False,
) -> None:
    """Recall and false blocks of the deterministic tier on labelled messages."""
    from uniclaw.assets import Assets, default_roots
    from uniclaw.cli import output
    from uniclaw.runner.firewall_tools import measure_corpus

    report = measure_corpus(corpus or (), suite or (), Assets(default_roots(assets)))
    if as_json:
        output.print_json({"ok": report.ok, **report.model_dump(mode="json")})
    else:
        for row in report.kinds:
            output.print_line(f"{row.family:10} {row.kind:20} {row.language}  {row.rate:.3f}")
        output.print_line(f"clean messages blocked: {report.blocked_clean:.3%}")
    raise typer.Exit(0 if report.ok else 1)


@app.command("audit")
def audit(
    source: Annotated[str, typer.Argument(help="uniclawbench-trace:DIR.")],
    suite: SuiteUri,
    policy: Policy = "paper",
    assets: AssetTree = None,
    as_json: Json = False,
) -> None:
    """Audit the feedback of published episodes with our screen."""
    from uniclaw.assets import Assets, default_roots
    from uniclaw.cli import output
    from uniclaw.runner.firewall_tools import audit_traces

    report = audit_traces(source, suite, policy, Assets(default_roots(assets)))
    if as_json:
        output.print_json(report.model_dump(mode="json"))
    else:
        output.print_line(f"{report.leaking} of {report.messages} messages leak. {report.note}")


def leak(
    run: Annotated[str, typer.Argument(help="Name of a run.")],
    runs_dir: Annotated[Path, typer.Option(help="Where runs are kept.")] = Path("runs"),
    assets: AssetTree = None,
    as_json: Json = False,
) -> None:
    """What a stored run's feedback leaked, by policy: rates, bits, persona, outside requests."""
    from uniclaw.assets import Assets, default_roots
    from uniclaw.cli import output
    from uniclaw.runner.leak_report import leak_measures
    from uniclaw.statistics.reconstruction import reconstruct

    found = leak_measures(runs_dir / run, Assets(default_roots(assets)))
    bits = reconstruct(found.clues)
    if as_json:
        parts = {"rows": found.rows, "reconstruction": bits, "adherence": found.adherence}
        output.print_json(
            {name: [row.model_dump(mode="json") for row in rows] for name, rows in parts.items()}
        )
        return
    for row in found.rows:
        where = "all" if row.round is None else str(row.round)
        output.print_line(
            f"{row.policy:10} round {where:4} drafts {row.drafts:4} leaking {row.leaking_drafts:4}"
            f"  delivered {row.delivered:4} leaking {row.leaking_delivered:4}"
        )
    for probe in bits:
        output.print_line(f"{probe.policy:10} {_bits(probe.bits_per_message)} a message")
    for kept in found.adherence:
        output.print_line(
            f"{kept.policy:10} persona {kept.persona or '?':14} {kept.adhering} of {kept.messages}"
            f" keep to it, {kept.outside} name something outside the task"
        )


def _bits(estimate: "Estimate") -> str:
    if estimate.value is None:
        return f"bits: {estimate.reason}"
    ends = "" if estimate.ci is None else f" [{estimate.ci[0]:.3f}, {estimate.ci[1]:.3f}]"
    return f"bits {estimate.value:.3f}{ends}"
