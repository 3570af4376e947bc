"""What the numbers of an ablation allow to say, in words."""

from uniclaw.statistics.ablation import AblationReport, Arm, Effect
from uniclaw.statistics.estimates import Estimate


def paragraph(report: AblationReport) -> str:
    """One paragraph; claims nothing that an interval does not bear."""
    compared = [arm for arm in report.arms if arm.name != report.against]
    said = [
        f"{report.states} round-0 states of {report.families} task families were continued under"
        f" {len(report.arms)} arms; {report.failing_states} of them had not passed yet, and only"
        f" there can feedback matter."
    ]
    said += [_change(arm, report.against) for arm in compared]
    said.append(_leaks(report))
    if report.families < 10:
        said.append(
            f"With {report.families} families the intervals may not hold their level: take this as"
            " a trial of the set-up, not as a finding."
        )
    said += [f"{note.capitalize()}." for note in report.warnings]
    return " ".join(text for text in said if text)


def _pass(arm: Arm) -> Effect | None:
    return next((e for e in arm.effects if (e.measure, e.scope) == ("pass", "overall")), None)


def ends(found: Estimate) -> str:
    """An interval in words."""
    if found.ci is None:
        return "no interval"
    return f"{found.level:.0%} interval {found.ci[0]:+.2f} to {found.ci[1]:+.2f}"


def _change(arm: Arm, against: str) -> str:
    effect = _pass(arm)
    if effect is None:
        return ""
    found = effect.difference
    if found.value is None:
        return f"Of {arm.name} against {against} nothing can be said: {found.reason}."
    start = f"Against {against}, {arm.name} changed the pass rate by {found.value:+.2f}"
    start += f" ({ends(found)}, {effect.pairs} pairs)"
    if found.ci is None:
        return f"{start}; that is a description of these episodes and no more."
    low, high = found.ci
    if low > 0:
        return f"{start}: its feedback is worth something beyond doubt."
    if high < 0:
        return f"{start}: its feedback is worth less beyond doubt."
    return f"{start}: no effect is shown, and none beyond these ends is compatible with the data."


def _leaks(report: AblationReport) -> str:
    known = {arm.name: arm.leak for arm in report.arms if arm.leak is not None}
    if not known:
        return ""
    base = known.get("sealed")
    guilty = [name for name, leak in known.items() if leak.above_base]
    some = [name for name, leak in known.items() if leak.leaking]
    if not some:
        return "No delivered message held anything that its policy hides."
    shares = ", ".join(f"{known[n].leaking} of {known[n].messages} under {n}" for n in some)
    said = f"Messages that hold what their policy hides: {shares}."
    if base is None:
        return f"{said} Without a sealed arm there is no base rate to hold this against."
    if guilty:
        return f"{said} Beyond the base rate of sealed leak {' and '.join(guilty)}."
    return f"{said} None of it is beyond doubt above the base rate of sealed."
