"""What a policy's feedback is worth: arms that continue the same round-0 states, compared in pairs.

A pair is one task and trial under two arms: it has round 0 in common and differs in feedback
alone, so the mean difference is the effect of the feedback. Families are resampled as one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from uniclaw.errors import UserError
from uniclaw.experiment import NEUTRAL, REPEAT, ROUND_0
from uniclaw.records import Count, NonNegative, Record
from uniclaw.statistics.estimates import Estimate, Options
from uniclaw.statistics.intervals import design, design_of, ratio_estimates, totals
from uniclaw.statistics.measures import Definition, read
from uniclaw.statistics.pairs import Pairs, difference_estimate
from uniclaw.statistics.rows import EpisodeRow, Rows, as_rows

NO_FEEDBACK, NEUTRAL_ARM = "no-feedback", "neutral"
ORDER = (NO_FEEDBACK, NEUTRAL_ARM, "sealed", "binary", "coarse", "paper", "hints", "missing",
         "rationale", "open")  # fmt: skip
"""Arms from the least told to the most; others follow."""
EffectMeasure = Literal["pass", "score", "rounds"]
Scope = Literal["overall", "failing"]
MEASURES: tuple[EffectMeasure, ...] = ("pass", "score", "rounds")
SCOPES: tuple[Scope, ...] = ("overall", "failing")


class AblationOptions(Options):
    """Options of `ablation`."""

    against: str = "coarse"
    definition: Definition = "final"


class Told(NamedTuple):
    """A message that reached the executor."""

    arm: str
    family: str
    capability: str
    leak: bool
    """Whether screening found in it what the policy hides."""


class Effect(Record):
    """One measure of an arm minus the same of the arm it is compared with."""

    measure: EffectMeasure
    """`rounds`: feedback rounds until pass; who never passed counts one more than allowed."""
    scope: Scope
    """`failing`: only pairs whose common round 0 did not pass."""
    pairs: Count
    difference: Estimate


class LeakMeasure(Record):
    """Of an arm's messages, how many hold what the policy hides."""

    messages: Count
    leaking: Count
    rate: Estimate
    above_base: bool | None
    """Whether the rate is above that of `sealed` beyond doubt; None where one is unknown."""


class Arm(Record):
    """One arm."""

    name: str
    episodes: Count
    scored: Count
    passed: Estimate
    score: Estimate
    rounds: Estimate
    cost_usd: NonNegative | None
    """Of the executor's rounds after round 0; None when unknown."""
    tokens: Count
    leak: LeakMeasure | None = None
    effects: tuple[Effect, ...] = ()


class AblationReport(Record):
    """Answer of `ablation`."""

    against: str
    definition: Definition
    level: float
    states: Count
    """Round-0 states (task and trial)."""
    failing_states: Count
    families: Count
    arms: tuple[Arm, ...]
    warnings: tuple[str, ...] = ()


def arm_of(policy: str, user_simulator: str) -> str | None:
    """The arm of a cell; None for round 0 alone."""
    controls: Mapping[str, str | None] = {
        ROUND_0: None,
        REPEAT: NO_FEEDBACK,
        NEUTRAL: NEUTRAL_ARM,
    }
    return controls.get(user_simulator, policy)


def ablation(
    rows: Rows, options: AblationOptions | None = None, *, told: Sequence[Told] = ()
) -> AblationReport:
    """Compare every arm with one of them.

    Args:
        rows: episodes of a nested run.
        options: what to compare with, and how intervals are made.
        told: the messages that were delivered, where leaks are to be measured.

    Raises:
        UserError: no such arm, or an arm that plays a task and trial twice.
    """
    chosen = options or AblationOptions()
    arms: dict[str, list[EpisodeRow]] = {}
    for row in as_rows(rows):
        name = arm_of(row.policy, row.user_simulator)
        if name is not None:
            arms.setdefault(name, []).append(row)
    if chosen.against not in arms:
        raise UserError(f"no such arm; there are {sorted(arms)}", field="against",
                        value=chosen.against)  # fmt: skip
    for name, played in arms.items():
        if len({_state(row) for row in played}) < len(played):
            raise UserError("a task and trial stands twice in this arm", field="arm", value=name)
    base = _rate(told, "sealed", chosen)
    found = tuple(_arm(name, arms, chosen, told, base) for name in sorted(arms, key=_rank))
    states = {_state(row): row for played in arms.values() for row in played}
    return AblationReport(
        against=chosen.against,
        definition=chosen.definition,
        level=chosen.level,
        states=len(states),
        failing_states=sum(_failing(row) for row in states.values()),
        families=len({row.family for row in states.values()}),
        arms=found,
        warnings=_warnings(arms),
    )


def _state(row: EpisodeRow) -> tuple[str, str]:
    return row.task_id, str(row.trial)


def _rank(name: str) -> tuple[int, str]:
    return (ORDER.index(name) if name in ORDER else len(ORDER), name)


def _failing(row: EpisodeRow) -> bool:
    return bool(row.rounds) and row.rounds[0].passed is False


def _warnings(arms: Mapping[str, Sequence[EpisodeRow]]) -> tuple[str, ...]:
    notes: list[str] = []
    for name, played in arms.items():
        lost = sum(not row.scored for row in played)
        if lost:
            notes.append(f"{lost} of {len(played)} episodes of {name} have no score")
    return tuple(notes)


def reading(measure: EffectMeasure, definition: Definition) -> Callable[[EpisodeRow], float | None]:
    """How a row gives the measure; None does not count."""

    def rounds(row: EpisodeRow) -> float | None:
        if not row.scored or not row.rounds:
            return None
        passed = next((r.round for r in row.rounds if r.passed), None)
        limit = row.feedback_rounds_limit
        never = (len(row.rounds) - 1 if limit is None else limit) + 1
        return float(never if passed is None else passed)

    def plain(row: EpisodeRow) -> float | None:
        found = read(row, definition)
        return found.passed if measure == "pass" else found.score

    return rounds if measure == "rounds" else plain


def _arm(
    name: str,
    arms: Mapping[str, Sequence[EpisodeRow]],
    options: AblationOptions,
    told: Sequence[Told],
    base: Estimate | None,
) -> Arm:
    rows, other = arms[name], arms[options.against]
    means = {m: _mean(rows, reading(m, options.definition), m, options) for m in MEASURES}
    effects = [
        _effect(rows, other, measure, scope, options)
        for measure in MEASURES
        for scope in SCOPES
        if name != options.against
    ]
    costs = [row.cost_usd for row in rows if _failing(row)]
    known = [cost for cost in costs if cost is not None]
    return Arm(
        name=name,
        episodes=len(rows),
        scored=sum(row.scored for row in rows),
        passed=means["pass"],
        score=means["score"],
        rounds=means["rounds"],
        cost_usd=sum(known) if len(known) == len(costs) else None,
        tokens=sum(row.tokens.total for row in rows if row.tokens is not None),
        leak=_leak(told, name, base, options),
        effects=tuple(effects),
    )


def _mean(
    rows: Sequence[EpisodeRow],
    value: Callable[[EpisodeRow], float | None],
    measure: EffectMeasure,
    options: AblationOptions,
) -> Estimate:
    plan = design_of(rows)
    column = [(row.family, v) for row in rows if (v := value(row)) is not None]
    return ratio_estimates(plan, totals(plan, [column]), options, bounded=measure != "rounds")[0]


def _effect(
    rows: Sequence[EpisodeRow],
    other: Sequence[EpisodeRow],
    measure: EffectMeasure,
    scope: Scope,
    options: AblationOptions,
) -> Effect:
    value = reading(measure, options.definition)
    pairs = state_pairs(rows, other, value, failing=scope == "failing")
    most = 1.0
    if measure == "rounds":
        most = max([*pairs.left, *pairs.right, 1.0])
    difference = _whole(difference_estimate(pairs, options), pairs, most)
    return Effect(measure=measure, scope=scope, pairs=len(pairs.units), difference=difference)


def state_pairs(
    left: Sequence[EpisodeRow],
    right: Sequence[EpisodeRow],
    value: Callable[[EpisodeRow], float | None],
    *,
    failing: bool,
) -> Pairs:
    """Values of two arms on the round-0 states that both continued to a result."""
    sides: list[dict[tuple[str, ...], float]] = []
    for rows in (left, right):
        kept = [row for row in rows if _failing(row) or not failing]
        sides.append({_state(row): v for row in kept if (v := value(row)) is not None})
    by_state = {_state(row): row for row in (*left, *right)}
    shared = tuple(sorted(sides[0].keys() & sides[1].keys()))
    rows_of = [by_state[unit[0], unit[1]] for unit in shared]
    return Pairs(
        plan=design({row.family: row.capability for row in rows_of}),
        units=shared,
        families=tuple(row.family for row in rows_of),
        left=tuple(sides[0][unit] for unit in shared),
        right=tuple(sides[1][unit] for unit in shared),
        dropped=len(sides[0].keys() | sides[1].keys()) - len(shared),
        single=True,
        uneven=False,
    )


def _whole(found: Estimate, pairs: Pairs, most: float) -> Estimate:
    """An interval where all pairs differ by the same: what share of families could go unseen."""
    families, value = len(set(pairs.families)), found.value
    changes = {change for _, change in pairs.differences}
    if value is None or found.ci is not None or families < 2 or len(changes) > 1:
        return found
    unseen = 1 - ((1 - found.level) / 2) ** (1 / families)
    note = "all pairs differ by the same: the ends are what as many families could leave unseen"
    return found.model_copy(
        update={
            "low": value - unseen * (most + value),
            "high": value + unseen * (most - value),
            "method": "cluster_exact",
            "reason": None,
            "warnings": (*found.warnings, note),
        }
    )


def _rate(told: Sequence[Told], arm: str, options: AblationOptions) -> Estimate | None:
    mine = [t for t in told if t.arm == arm]
    if not mine:
        return None
    plan = design({t.family: t.capability for t in mine})
    data = totals(plan, [[(t.family, float(t.leak)) for t in mine]])
    return ratio_estimates(plan, data, options)[0]


def _leak(
    told: Sequence[Told], arm: str, base: Estimate | None, options: AblationOptions
) -> LeakMeasure | None:
    rate = _rate(told, arm, options)
    if rate is None:
        return None
    mine = [t for t in told if t.arm == arm]
    above = None
    if base is not None and base.ci is not None and rate.ci is not None:
        above = rate.ci[0] > base.ci[1]
    return LeakMeasure(
        messages=len(mine), leaking=sum(t.leak for t in mine), rate=rate, above_base=above
    )
