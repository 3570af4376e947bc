"""The `uniclaw` command: thin typer commands over library functions.

Exit codes: 0 every episode has an outcome that counts; 1 some do not, or something failed;
2 the user's mistake (message with file, field and value; nothing was run). Heavy imports
happen inside the commands, so that `--help` stays fast.
"""

import sys
from typing import Annotated

import typer

import uniclaw
from uniclaw.cli import (
    ablate,
    clean,
    cost,
    doctor,
    env,
    export,
    firewall,
    fork,
    importing,
    new,
    plan,
    rejudge,
    replay,
    report,
    resume,
    run,
    show,
    statistics,
    trying,
    validate,
    view,
)
from uniclaw.errors import UniclawError, UserError

app = typer.Typer(
    name="uniclaw",
    help="Evaluate AI agents the way people use them: live containers, hidden supervision,"
    " simulated users, an information firewall.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command("run")(run.run)
app.command("resume")(resume.resume)
app.command("plan")(plan.plan)
app.command("export")(export.export)
app.command("import")(importing.import_results)
app.command("replay")(replay.replay)
app.command("rejudge")(rejudge.rejudge)
app.command("cost")(cost.cost)
app.command("new")(new.new)
app.command("try")(trying.try_task)
app.command("fork")(fork.fork)
app.command("ablate")(ablate.ablate)
app.command("report")(report.report)
app.command("show")(show.show)
app.command("validate")(validate.validate)
app.command("view")(view.view)
for command in (
    statistics.stats,
    statistics.compare,
    statistics.variance,
    statistics.power,
    statistics.quality,
    statistics.lite,
    statistics.agreement,
):
    app.command(command.__name__)(command)
app.command("doctor")(doctor.doctor)
app.command("clean")(clean.clean)
app.command("leak")(firewall.leak)
app.add_typer(firewall.app, name="firewall", help="Explain, test and use the firewall.")
app.add_typer(env.app, name="env", help="List, build and test environment images.")


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"uniclaw {uniclaw.__version__}\n")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print and exit.")
    ] = False,
) -> None:
    """Options of the program itself."""


def main() -> None:
    """Run the program; typed errors become one line and an exit code."""
    try:
        app()
    except UserError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2)
    except UniclawError as error:
        sys.stderr.write(f"error: {type(error).__name__}: {error}\n")
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(1)
