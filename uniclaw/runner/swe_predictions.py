"""Writes a run's candidate patches as SWE-bench predictions, one row per instance for ever.

A row is made of the last round that was graded. The file is written whole and at once, so that
a second export replaces the first and never adds to it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from uniclaw.errors import UserError
from uniclaw.store.atomic import read_json, to_json, write_bytes
from uniclaw.store.records import EpisodeRecord
from uniclaw.store.run_store import RunStore
from uniclaw.supervisor.swe_patch import Patch

_SUITE = "claw-swe"


class Selection(NamedTuple):
    """Which episodes of a run; None takes all, where there is one alone."""

    cell: str | None = None
    """Name of a cell, or of its executor where that is enough."""
    trial: int | None = None


class Prediction(NamedTuple):
    """One row, and what is said of it."""

    instance: str
    patch: Patch
    model: str

    @property
    def row(self) -> dict[str, JsonValue]:
        """As the official evaluator reads it."""
        return {
            "instance_id": self.instance,
            "model_name_or_path": self.model,
            "model_patch": self.patch.text,
        }


def write_predictions(
    store: RunStore, path: Path, chosen: Selection | None = None
) -> dict[str, JsonValue]:
    """Write predictions; returns what was written, dropped and left out.

    Args:
        store: the run.
        path: a file for one cell and trial; a directory (existing, or with a slash at its end)
            gets a file for each.
        chosen: which cell and trial.

    Raises:
        UserError: no such cell or trial, or a file for several of them.
    """
    directory = path.is_dir() or str(path).endswith("/")
    groups = _groups(store, chosen or Selection())
    if not directory and len(groups) > 1:
        shown = "\n  ".join(f"{cell} · trial {trial}" for cell, trial in groups)
        raise UserError(
            "one file holds one row per instance, and the run has several cells or trials; name"
            " a directory (one file each), or choose with --swe-cell and --swe-trial:\n  " + shown,
            field="swe-predictions",
            value=str(path),
        )
    files: list[JsonValue] = []
    for (cell, trial), records in groups.items():
        target = path / f"{_file_name(cell)}-trial-{trial}.jsonl" if directory else path
        files.append({"cell": cell, "trial": trial, **_write(store, target, records)})
    return {"files": files}


def _groups(
    store: RunStore, chosen: Selection
) -> Mapping[tuple[str, int], Sequence[EpisodeRecord]]:
    groups: dict[tuple[str, int], list[EpisodeRecord]] = {}
    for record in store.readable()[0]:
        if record.suite == _SUITE:
            groups.setdefault((record.cell, record.trial), []).append(record)
    if not groups:
        raise UserError("the run has no episodes of claw-swe", field="run", value=store.name)
    kept = {
        key: records
        for key, records in groups.items()
        if chosen.cell in (None, key[0], records[0].axes.executor)
        and chosen.trial in (None, key[1])
    }
    if not kept:
        known = ", ".join(sorted({cell for cell, _ in groups}))
        raise UserError(
            f"no episodes of that cell and trial; cells are {known}",
            field="swe-cell",
            value=f"{chosen.cell} {chosen.trial}",
        )
    return dict(sorted(kept.items()))


def _write(store: RunStore, path: Path, records: Iterable[EpisodeRecord]) -> dict[str, JsonValue]:
    found: dict[str, Prediction] = {}
    left_out: dict[str, JsonValue] = {}
    for record in records:
        prediction = _prediction(store, record)
        if prediction is None:
            left_out[record.task_id] = record.reason or record.outcome.value
        else:
            found[record.task_id] = prediction
    rows = [found[name] for name in sorted(found)]
    text = "".join(f"{to_json(prediction.row)}\n" for prediction in rows)
    write_bytes(path, text.encode("utf-8"))
    tried = [p.patch for p in rows if p.patch.applies is not None]
    refused = sum(1 for patch in tried if patch.applies is False)
    dropped: dict[str, JsonValue] = {
        p.instance: [d.model_dump(mode="json") for d in p.patch.dropped]
        for p in rows
        if p.patch.dropped
    }
    return {
        "path": str(path),
        "predictions": len(rows),
        "empty": sum(1 for p in rows if not p.patch.text),
        "not_applying": refused,
        "not_applying_rate": refused / len(tried) if tried else None,
        "dropped": dropped,
        "left_out": left_out,
    }


def _prediction(store: RunStore, record: EpisodeRecord) -> Prediction | None:
    """The last round's patch; None for an episode that is nobody's score."""
    if not record.outcome.scored:
        return None
    evidence = store.episode_dir(record.episode_id) / "evidence"
    for round_record in reversed(record.rounds):
        file = evidence / f"{round_record.round}.patch.json"
        if file.is_file():
            patch = Patch.model_validate(read_json(file))
            return Prediction(record.task_id, patch, _model_name(record))
    return None


def _model_name(record: EpisodeRecord) -> str:
    """Harness and model: a model alone would not say what was evaluated."""
    axes = record.axes
    return axes.harness if axes.model is None else f"{axes.harness}:{axes.model}"


def _file_name(cell: str) -> str:
    return re.sub(r"[^A-Za-z0-9.+-]+", "_", cell).strip("_")[:120] or "cell"
