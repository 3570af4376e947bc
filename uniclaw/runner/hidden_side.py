"""The hidden side of a task as the episodes of a run share it: read, hashed and indexed once."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from uniclaw.assets import tree_hash
from uniclaw.firewall.material import HiddenMaterial
from uniclaw.firewall.policy import Policy
from uniclaw.firewall.public import public_texts
from uniclaw.firewall.screening import Screen
from uniclaw.hidden.references import References
from uniclaw.hidden.rubric import LoadedRubric
from uniclaw.suites.bundle import TaskBundle
from uniclaw.supervisor.lines import judge_lines, rubric_lines

REFERENCE_BYTES = 2_000_000
"""Of one reference file, what a judge may be shown."""


class HiddenSide(NamedTuple):
    """A task's rubric with what is derived from it."""

    loaded: LoadedRubric
    references: Mapping[str, str]
    """Hidden texts for a judge."""
    labels: tuple[str, ...]
    """Of the texts that carry a canary."""
    sha256: str

    @classmethod
    def load(cls, bundle: TaskBundle) -> "HiddenSide":
        """Read it.

        Raises:
            UserError: the rubric is broken.
        """
        loaded = bundle.load_rubric()
        references = reference_texts(loaded)
        return cls(loaded, references, hidden_labels(loaded, references), rubric_hash(loaded))


class Fence(NamedTuple):
    """What a task hides under a policy, and the index that messages are compared with."""

    material: HiddenMaterial
    screen: Screen

    @classmethod
    def build(cls, loaded: LoadedRubric, bundle: TaskBundle, policy: Policy) -> "Fence":
        """Index it."""
        material = HiddenMaterial.of(loaded, policy)
        public = public_texts(bundle)
        return cls(material, Screen(material, public=public, brief=bundle.brief, policy=policy))


def reference_texts(loaded: LoadedRubric) -> dict[str, str]:
    """Hidden texts for a judge: imported rules and every reference file that is text."""
    texts = {f"rule-{i}": text for i, text in enumerate(loaded.raw_texts)}
    for name, path in References.of(loaded).files(loaded.rubric).items():
        data = path.read_bytes()[:REFERENCE_BYTES]
        if b"\0" not in data[:8192]:
            texts[name] = data.decode("utf-8", "replace")
    return texts


def hidden_labels(loaded: LoadedRubric, references: Iterable[str]) -> tuple[str, ...]:
    """Labels of the hidden texts that a judge may be handed: one canary each."""
    criteria = [f"criterion:{line.id}" for line in judge_lines(rubric_lines(loaded.rubric))]
    named = [f"reference:{name}" for name in references]
    return tuple(dict.fromkeys([*criteria, *named]))


def rubric_hash(loaded: LoadedRubric) -> str:
    """SHA-256 over the rubric as parsed, its check code and its references."""
    digest = hashlib.sha256(loaded.rubric.model_dump_json().encode())
    code = loaded.root / "checks.py"
    if code.is_file():
        digest.update(code.read_bytes())
    for name in loaded.rubric.references:
        path = loaded.reference_root / name
        if path.exists():
            digest.update(f"{name}\0{tree_hash(path)}\0".encode())
    return digest.hexdigest()
