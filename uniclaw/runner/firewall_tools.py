"""What `uniclaw firewall` does: explain, screen, test and audit."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from uniclaw.assets import Assets
from uniclaw.errors import UserError
from uniclaw.firewall.audit import AuditReport, audit, trace_files
from uniclaw.firewall.corpus import Probe, load_probes, stored_probes
from uniclaw.firewall.decision import ScreenDecision
from uniclaw.firewall.explain import FlowRow, explain
from uniclaw.firewall.measure import CorpusReport, measure
from uniclaw.firewall.policy import load_policy
from uniclaw.firewall.screen_file import LineDecision, screen_lines, screens_of
from uniclaw.firewall.screening import Screen
from uniclaw.records import Progress
from uniclaw.suites import load_suite

DEFAULT_SUITE = "examples/office"
TRACES = "uniclawbench-trace:"


def explain_policy(policy: str, assets: Assets) -> tuple[FlowRow, ...]:
    """Which fields can reach the user simulator and the executor under a policy."""
    return explain(load_policy(policy, assets))


def screen_file(suite: str, file: Path, policy: str, assets: Assets) -> list[LineDecision]:
    """Screen lines of `{id, task_id, visible, message}` against each task's hidden side.

    Raises:
        UserError: unreadable, a line that does not fit, or an unknown task.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot be read: {error}", file=file) from error
    screens = screens_of(load_suite(suite, assets=assets), load_policy(policy, assets))
    return list(screen_lines(lines, screens, file=str(file)))


def measure_corpus(corpus: Sequence[Path], suites: Sequence[str], assets: Assets) -> CorpusReport:
    """Recall and false blocks of the deterministic tier on labelled messages.

    Each probe is screened under its own policy.
    """
    probes = [p for path in corpus for p in load_probes(path)] or list(stored_probes(assets))
    loaded = [load_suite(uri, assets=assets) for uri in suites or (DEFAULT_SUITE,)]
    home = {str(b.task_id): suite for suite in loaded for b in suite.tasks}

    @cache
    def screens(suite: int, policy: str) -> Callable[[str], Screen]:
        return screens_of(loaded[suite], load_policy(policy, assets))

    def check(probe: Probe) -> ScreenDecision:
        if probe.task_id not in home:
            raise UserError("no suite has this task", field="task_id", value=probe.task_id)
        screen = screens(loaded.index(home[probe.task_id]), probe.policy)(probe.task_id)
        return screen.check(
            probe.message, visible=probe.visible, progress=Progress(), history=probe.history
        )

    return measure(probes, check)


def audit_traces(source: str, suite: str, policy: str, assets: Assets) -> AuditReport:
    """Audit the feedback of published episodes.

    Raises:
        UserError: not `uniclawbench-trace:DIR`, or no traces there.
    """
    if not source.startswith(TRACES):
        raise UserError(f"expected {TRACES}DIR", field="source", value=source)
    paths = trace_files(Path(source.removeprefix(TRACES)))
    screens = screens_of(
        load_suite(suite, assets=assets), load_policy(policy, assets), whole_work=False
    )
    return audit(paths, screens)
