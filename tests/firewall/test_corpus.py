import json
import random
from pathlib import Path

import pytest
from hidden_case import ASSETS, policy

from uniclaw.errors import UserError
from uniclaw.firewall.build_probes import ProbeBuilder
from uniclaw.firewall.corpus import Probe, load_probes, stored_probes
from uniclaw.firewall.decision import CLEAN
from uniclaw.firewall.material import HiddenMaterial
from uniclaw.firewall.measure import TARGETS, CorpusReport, Screened, leak_rows, measure
from uniclaw.firewall.screen_file import screens_of
from uniclaw.records import Progress
from uniclaw.suites import load_suite
from uniclaw.suites.bundle import Suite
from uniclaw.suites.uniclawbench import load_uniclawbench


def report(suite: Suite, probes: list[Probe]) -> CorpusReport:
    screen = screens_of(suite, policy())
    return measure(
        probes,
        lambda p: screen(p.task_id).check(
            p.message, visible=p.visible, progress=Progress(), history=p.history
        ),
    )


def built(suite: Suite) -> list[Probe]:
    return [
        probe
        for bundle in suite.tasks
        for probe in ProbeBuilder(
            bundle, HiddenMaterial.of(bundle.load_rubric(), policy()), random.Random(11)
        ).build()
    ]


def test_the_stored_corpus_is_large_labelled_and_in_both_languages() -> None:
    probes = stored_probes(ASSETS)
    assert len(probes) >= 400
    assert len({probe.id for probe in probes}) == len(probes)
    for language in ("en", "zh"):
        families = {probe.family for probe in probes if probe.language == language}
        assert families == set(TARGETS)


def test_the_screen_reaches_its_targets_on_the_stored_corpus(repository: Path) -> None:
    suite = load_suite(str(repository / "examples" / "office"), assets=ASSETS)
    found = report(suite, list(stored_probes(ASSETS)))
    assert found.ok, found.missed
    assert found.blocked_clean <= 0.02
    for row in found.kinds:
        assert row.rate >= (0.5 if row.family == "semantic" else 0.85), row


def test_the_screen_reaches_its_targets_on_probes_built_from_the_bundled_suite(
    repository: Path,
) -> None:
    suite = load_suite(str(repository / "examples" / "office"), assets=ASSETS)
    found = report(suite, built(suite))
    assert found.ok, found.missed


@pytest.mark.reference
def test_the_screen_reaches_its_targets_on_probes_built_from_the_reference(
    reference_data: Path,
) -> None:
    suite = load_uniclawbench(
        reference_data / "uniclawbench",
        uri="ref",
        assets=ASSETS,
        globs=("*101_06*", "*101_12*", "*101_25*", "*102_13*", "*102_21*", "*105_38*", "*201_12*"),
    )
    found = report(suite, built(suite))
    assert found.messages >= 200
    assert found.ok, found.missed


@pytest.mark.parametrize(
    "line", ["{", '{"id": "x"}', '{"id": 3}', "[]", '{"id":"a","task_id":"t","extra":1}']
)
def test_a_broken_probe_file_is_refused_with_file_and_line(tmp_path: Path, line: str) -> None:
    good = Probe(id="a", task_id="t", language="en", label="clean", kind="k", message="m")
    file = tmp_path / "p.jsonl"
    file.write_text(f"{good.model_dump_json()}\n\n{line}\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"p\.jsonl:3"):
        load_probes(file)


def test_leak_rates_are_counted_before_and_after_screening() -> None:
    drafts = [
        Screened(policy="coarse", round=1, leak=True, delivered=False, kinds=("number",)),
        Screened(policy="coarse", round=1, leak=False, delivered=True),
        Screened(policy="coarse", round=2, leak=False, delivered=True),
        Screened(policy="open", round=1, leak=True, delivered=True, kinds=("score", "score")),
    ]
    rows = {(row.policy, row.round): row for row in leak_rows(drafts)}
    whole = rows["coarse", None]
    assert (whole.drafts, whole.leaking_drafts, whole.delivered) == (3, 1, 2)
    assert whole.leak_rate_before == pytest.approx(1 / 3)
    assert whole.leak_rate_after == 0
    assert rows["coarse", 2].kinds == {}
    assert rows["open", None].leak_rate_after == 1
    assert rows["open", None].kinds == {"score": 1}


def test_without_drafts_there_is_no_rate() -> None:
    assert leak_rows([]) == ()
    row = leak_rows([Screened(policy="p", round=1, leak=True, delivered=False)])[0]
    assert row.leak_rate_after is None


def test_reports_are_json() -> None:
    probes = [Probe(id="a", task_id="t", language="en", label="leak", kind="count", message="m")]
    found = measure(probes, lambda probe: CLEAN)
    assert json.loads(found.model_dump_json())["families"] == {"semantic": 0.0}
    assert not found.ok
