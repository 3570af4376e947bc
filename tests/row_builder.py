"""Result rows for tests of statistics and curation."""

from collections.abc import Mapping, Sequence

from uniclaw.records import Outcome, Usage
from uniclaw.statistics.rows import EpisodeRow, RoundRow


def row(
    task: str = "t0",
    passed: bool | None = True,
    score: float | None = None,
    *,
    family: str | None = None,
    capability: str = "general",
    harness: str = "h",
    model: str = "m",
    cell: str | None = None,
    trial: int = 0,
    outcome: Outcome | None = None,
    best: float | None = None,
    rounds: Sequence[RoundRow] = (),
    limit: int | None = None,
    simulator: str = "scripted",
    supervisor: str = "checks",
    cost: float | None = None,
    tokens: Usage | None = None,
    executor_s: float | None = None,
    run: str = "r",
    language: str = "en",
    missing: tuple[str, ...] | None = None,
    safety: bool | None = None,
    threshold: float | None = 0.9,
) -> EpisodeRow:
    """One row; the score follows from `passed` unless given."""
    ended = outcome or (Outcome.PASS if passed else Outcome.ROUNDS_EXHAUSTED)
    number = score if score is not None else (None if passed is None else float(passed))
    return EpisodeRow(
        run=run,
        task_id=task,
        family=family or task,
        suite="s",
        capability=capability,
        language=language,
        cell=cell or f"{harness}:{model}",
        harness=harness,
        model=model,
        policy="coarse",
        user_simulator=simulator,
        supervisor=supervisor,
        feedback_rounds_limit=limit,
        trial=trial,
        outcome=ended,
        scored=ended.scored,
        passed=passed if ended.scored else None,
        threshold=threshold,
        final_score=number if ended.scored else None,
        best_score=(best if best is not None else number) if ended.scored else None,
        rounds=tuple(rounds),
        executor_s=executor_s,
        tokens=tokens,
        cost_usd=cost,
        missing_artifacts=missing,
        safety=safety,
    )


def play(
    *checkpoints: Mapping[str, float | None],
    weights: Mapping[str, float] | None = None,
    passed: bool = False,
    feedback: Sequence[str] = (),
    blocked: Sequence[int] = (),
    wrong: Sequence[int] = (),
    disputed: tuple[str, ...] = (),
) -> tuple[RoundRow, ...]:
    """Rounds from the checkpoint values of each; the last one passes when `passed`."""
    shares = weights or {name: 1 / len(checkpoints[0]) for name in checkpoints[0]}
    last = len(checkpoints) - 1
    built: list[RoundRow] = []
    for number, values in enumerate(checkpoints):
        known = [shares[name] * value for name, value in values.items() if value is not None]
        source = feedback[number - 1] if 0 < number <= len(feedback) else "model"
        built.append(
            RoundRow.model_validate(
                {
                    "round": number,
                    "score": min(1.0, sum(known)) if len(known) == len(values) else None,
                    "passed": passed and number == last,
                    "checkpoints": dict(values),
                    "weights": dict(shares),
                    "feedback": source if number else None,
                    "blocked": blocked[number - 1] if 0 < number <= len(blocked) else 0,
                    "wrong_request": number in wrong,
                    "disputed": disputed if number == last else (),
                }
            )
        )
    return tuple(built)
