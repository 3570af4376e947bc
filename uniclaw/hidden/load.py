"""Read a native or overlay rubric strictly, and refuse what could not be graded.

Everything a mistake in the file can break is refused here, before anything is run or paid for:
each message names the file, the field, the value and what was expected.
"""

from pathlib import Path
from typing import Literal

from uniclaw.errors import UserError
from uniclaw.hidden.audit import audit_check
from uniclaw.hidden.references import References, escapes
from uniclaw.hidden.rubric import LoadedRubric, Rubric
from uniclaw.yamlio import LFS_MAGIC, parse_record, read_yaml

_EPSILON = 1e-9


def load_rubric(
    file: Path, *, reference_root: Path, source: Literal["native", "overlay", "imported"]
) -> LoadedRubric:
    """Load and check `rubric.yaml`.

    Args:
        file: the rubric; `checks.py`, fixtures and mutants lie beside it.
        reference_root: directory that `references/...` paths start at.
        source: where it comes from, for records.

    Raises:
        UserError: names file, field, value and what was expected.
    """
    loaded = LoadedRubric(
        rubric=parse_record(Rubric, read_yaml(file), file=file),
        root=file.parent,
        source=source,
        reference_root=reference_root,
    )
    audit_rubric(loaded, file=file)
    return loaded


def audit_rubric(loaded: LoadedRubric, *, file: Path) -> None:
    """Check what a rubric needs beyond its shape: files, functions, patterns, reachable pass.

    Raises:
        UserError: names file, field, value and what was expected.
    """
    rubric = loaded.rubric
    _audit_listed(loaded, file)
    if rubric.threshold > rubric.weights_sum + _EPSILON:
        raise UserError(
            f"no attempt can reach it: the weights sum to {rubric.weights_sum:g}",
            file=file,
            field="threshold",
            value=rubric.threshold,
        )
    _audit_ids(rubric, file)
    for index, checkpoint in enumerate(rubric.checkpoints):
        where = f"checkpoints[{index}]"
        if checkpoint.artifact is not None:
            _audit_artifact(checkpoint.artifact, file, f"{where}.artifact")
        audit_check(checkpoint.check, loaded, file=file, field=f"{where}.check")
    for index, cap in enumerate(rubric.caps):
        audit_check(
            cap.when,
            loaded,
            file=file,
            field=f"caps[{index}].when",
            described=bool(cap.description),
        )
    _audit_bytes(loaded)


def _audit_listed(loaded: LoadedRubric, file: Path) -> None:
    references = References.of(loaded)
    for index, relative in enumerate(loaded.rubric.references):
        try:
            references.locate(relative)
        except UserError as error:
            field = f"references[{index}]"
            raise UserError(error.problem, file=file, field=field, value=relative) from error


def _audit_bytes(loaded: LoadedRubric) -> None:
    """No reference file is a stand-in for content that was not fetched."""
    for relative, path in References.of(loaded).files(loaded.rubric).items():
        with path.open("rb") as stream:
            if stream.read(len(LFS_MAGIC)) == LFS_MAGIC:
                raise UserError(
                    "an unresolved Git LFS pointer; expected the file itself (git lfs pull)",
                    file=path,
                    field="references",
                    value=relative,
                )


def _audit_ids(rubric: Rubric, file: Path) -> None:
    if not rubric.pass_requires.judge:
        return
    for index, checkpoint in enumerate(rubric.checkpoints):
        if checkpoint.id.startswith("requires-"):
            raise UserError(
                "ids `requires-N` are kept for `pass_requires.judge`; expected another id",
                file=file,
                field=f"checkpoints[{index}].id",
                value=checkpoint.id,
            )


def _audit_artifact(path: str, file: Path, field: str) -> None:
    if not path.startswith("/") and escapes(path):
        raise UserError("expected a path inside, without `..`", file=file, field=field, value=path)
