"""The second phase of a `command` check: what the first one left, seen as evidence."""

from dataclasses import replace

from uniclaw.hidden.rubric import CommandCheck
from uniclaw.hidden.verdict import CheckResult
from uniclaw.supervisor.apart import CommandOutput
from uniclaw.supervisor.checks.context import CheckContext, Undecidable


def conclude_command(check: CommandCheck, output: CommandOutput | None) -> CheckResult:
    """What the exit code alone says.

    Raises:
        Undecidable: the machine kept the command from being run.
    """
    if output is None or output.layer is None:
        why = output.problem if output is not None else None
        raise Undecidable(why or "the command was not run")
    evidence = tuple(f"{output.base}/{name}" for name in ("stdout", "stderr"))
    if output.timed_out:
        reason = f"the command was stopped after {check.timeout_s:g} s"
        return CheckResult(value=0.0, reason=reason, evidence=evidence)
    if output.exit_code is None:
        reason = "the command did not end by itself; it took its environment down"
        return CheckResult(value=0.0, reason=reason, evidence=evidence)
    held = check.exit_code is None or output.exit_code == check.exit_code
    reason = f"the command ended with exit code {output.exit_code}"
    if not held:
        reason += f"; expected {check.exit_code}"
    if output.truncated:
        reason += "; its output was cut at the limit"
    return CheckResult(value=1.0 if held else 0.0, reason=reason, evidence=evidence)


def command_context(context: CheckContext, output: CommandOutput) -> CheckContext:
    """The same context with the command's output as further files, where relative paths start.

    Raises:
        Undecidable: there is no output.
    """
    if output.layer is None:
        raise Undecidable(output.problem or "the command was not run")
    return replace(context, files=context.files.below(output.base, output.layer))
