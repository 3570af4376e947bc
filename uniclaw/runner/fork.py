"""`uniclaw fork`: continues a recorded episode from a round's end, under other feedback."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

from pydantic import JsonValue

from uniclaw.assets import Assets, default_roots
from uniclaw.config import MoreAxes, RunSettings
from uniclaw.errors import UserError
from uniclaw.runner.inputs import refuse_changes
from uniclaw.runner.local import Watch
from uniclaw.runner.origins import fork_origin
from uniclaw.runner.resume import stored_document, stored_settings
from uniclaw.runner.start import RunResult, play_on, prepare
from uniclaw.store.records import EpisodeRecord
from uniclaw.store.run_store import RunStore, refuse_existing

COMPARED = ("images",)
"""Parts of the parent's stored document that must be as they were."""


class Forked(NamedTuple):
    """Forks of one episode, with what they were forked from."""

    result: RunResult
    parent: Mapping[str, JsonValue]
    """Run, episode, round, and how the parent ended."""

    @property
    def document(self) -> dict[str, JsonValue]:
        """As JSON."""
        return {**self.result.document, "parent": dict(self.parent)}


def fork(
    root: Path,
    episode_id: str,
    *,
    round_number: int,
    firewall: Sequence[str],
    user_simulator: Sequence[str],
    trials: int,
    name: str | None,
    environ: Mapping[str, str],
    notify: Callable[[str], None],
    watch: Watch,
    assets_dir: Path | None = None,
) -> Forked:
    """Continue an episode from exactly the state at the end of a round, as a new run.

    Args:
        root: of the parent's run.
        episode_id: of the parent.
        round_number: last round that is taken over; its feedback is the first that differs.
        firewall: policies.
        user_simulator: models, or none to keep the parent's.
        trials: repetitions.
        name: of the new run; None makes one.
        environ: environment variables.
        notify: says what goes on.
        watch: makes the progress display of the episodes to play.
        assets_dir: asset tree to look in first.

    Raises:
        UserError: no such episode or round, it ended there, nothing was kept, an unknown policy,
            or the images have changed since.
    """
    new_name = name or f"{root.name}-fork-{datetime.now(UTC):%H%M%S}-{token_hex(2)}"
    refuse_existing(root.parent, new_name)
    assets = Assets(default_roots(assets_dir, environ=environ))
    with RunStore.open(root) as old:
        if episode_id not in old.settled_ids():
            raise UserError("no settled episode of this run", field="episode", value=episode_id)
        record = old.episode(episode_id)
        origin = fork_origin(old, record, round_number)
        stored = stored_document(old)
        prepared = prepare(
            new_name,
            fork_settings(stored_settings(stored, root), record, firewall, user_simulator, trials),
            assets=assets,
            environ=environ,
            notify=notify,
            salt=str(stored.get("salt")),
            origin=lambda _: origin,
            runs_dir=root.parent,
        )
        document = prepared.document()
        refuse_changes(stored, document, COMPARED)
        # The first trial differs from the parent in its feedback alone.
        planned = [p._replace(seed=record.seed) if p.trial == 0 else p for p in prepared.planned]
        parent: dict[str, JsonValue] = {
            "run": root.name,
            "by": "fork",
            "episode": episode_id,
            "round": round_number,
        }
        document["parent"] = parent
        with RunStore.create(root.parent, new_name, document) as store:
            result = play_on(store, prepared._replace(planned=planned), watch=watch)
    outcome = {"outcome": record.outcome.value, "final_score": record.final_score}
    return Forked(result, {**parent, **outcome})


def fork_settings(
    settings: RunSettings,
    record: EpisodeRecord,
    firewall: Sequence[str],
    user_simulator: Sequence[str],
    trials: int,
) -> RunSettings:
    """The parent's settings for its one task and cell, with other feedback."""
    axes = record.axes
    more = MoreAxes(
        budget=() if axes.budget_factor == 1.0 else (axes.budget_factor,),
        temperature=() if axes.temperature is None else (axes.temperature,),
        top_p=() if axes.top_p is None else (axes.top_p,),
        effort=() if axes.effort is None else (axes.effort,),
        skills=(axes.skills,) if axes.skills else (),
    )
    return settings.model_copy(
        update={
            "tasks": (record.task_id,),
            "executor": (axes.executor,),
            "supervisor": (axes.supervisor,),
            "user_simulator": tuple(user_simulator) or kept_simulator(settings, record),
            "firewall": tuple(firewall),
            "persona": axes.persona or settings.persona,
            "feedback_rounds": axes.feedback_rounds,
            "trials": trials,
            "axes": more,
            "nested": False,
            "languages": (),
            "capabilities": (),
        }
    )


def kept_simulator(settings: RunSettings, record: EpisodeRecord) -> tuple[str, ...]:
    """The parent's user simulator; that of the run where the parent had a control's or none."""
    own = record.axes.user_simulator
    return (own,) if own in settings.user_simulator else settings.user_simulator
