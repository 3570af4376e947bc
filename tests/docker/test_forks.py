"""Forks of live containers: files, services, what a commit cannot hold, and a real program."""

import json
from pathlib import Path

import pytest
from player import Quiet, only, run
from pydantic import JsonValue
from service_maker import PORT, write_service
from suite_builder import RIGHT, WRONG, write_script, write_task

from uniclaw.environments.engine import connect
from uniclaw.records import Outcome
from uniclaw.runner.fork import fork
from uniclaw.runner.start import RunResult

pytestmark = pytest.mark.docker


def continue_(played: RunResult, name: str) -> RunResult:
    return fork(
        played.root,
        only(played).episode_id,
        round_number=0,
        firewall=("open",),
        user_simulator=(),
        trials=1,
        name=name,
        environ={},
        notify=lambda _: None,
        watch=lambda _: Quiet(),
    ).result


def snapshots(run_name: str, *, remove: bool = False) -> list[dict[str, object]]:
    api = connect()
    try:
        found = api.images(filters={"label": f"uniclaw.run={run_name}"})
        if remove:
            for row in found:
                api.remove_image(str(row["Id"]), force=True)
        return [dict(row) for row in found]
    finally:
        api.close()


def test_a_fork_of_a_container_has_its_files_and_snapshots_are_labelled(
    tmp_path: Path, unique: str
) -> None:
    look = "cat /tmp/note > results/seen\n" + RIGHT
    suite = write_task(tmp_path, rounds=("echo early > /tmp/note\n#---\n" + WRONG, look))
    try:
        played = run(suite, tmp_path / "runs", environment="docker", run=unique, snapshots=True)
        kept = snapshots(unique)
        assert len(kept) == 1
        labels = kept[0]["Labels"]
        assert isinstance(labels, dict)
        assert labels["uniclaw.snapshot"] == "1"
        assert labels["uniclaw.keep"] == "0"
        forked = continue_(played, f"{unique}-f")
        record = only(forked)
        assert record.outcome is Outcome.PASS
        evidence = forked.root / "episodes" / record.episode_id / "evidence" / "1"
        seen = evidence / "workspace" / "results" / "seen"
        assert seen.read_text(encoding="utf-8") == "early\n"
    finally:
        assert snapshots(unique, remove=True)


def test_state_in_memory_is_refused_with_its_place_and_the_episode_goes_on(
    tmp_path: Path, unique: str
) -> None:
    suite = write_task(tmp_path, rounds=("echo held > /dev/shm/kept\n#---\n" + WRONG, RIGHT))
    played = run(suite, tmp_path / "runs", environment="docker", run=unique, snapshots=True)
    record = only(played)
    assert record.outcome is Outcome.PASS
    file = played.root / "episodes" / record.episode_id / "rounds" / "0" / "boundary.json"
    kept = json.loads(file.read_text(encoding="utf-8"))
    assert kept["environment"] is None
    assert "/dev/shm/kept" in kept["problem"]
    assert snapshots(unique) == []


def test_a_fork_has_the_state_of_the_services_beside_it(tmp_path: Path, unique: str) -> None:
    url = f"http://localhost:{PORT}/notes"
    add, read = f"curl -sS -d early {url} > /dev/null\n", f"curl -sS {url} > results/notes.json\n"
    suite = write_task(
        tmp_path, task={"services": ["notes"]}, rounds=(add, read + "#---\n" + RIGHT)
    )
    write_service(suite / "count" / "services" / "notes")
    try:
        played = run(suite, tmp_path / "runs", environment="docker", run=unique, snapshots=True)
        assert len(snapshots(unique)) == 2
        forked = continue_(played, f"{unique}-f")
        record = only(forked)
        assert record.outcome is Outcome.PASS
        evidence = forked.root / "episodes" / record.episode_id / "evidence" / "1"
        notes = (evidence / "workspace" / "results" / "notes.json").read_text(encoding="utf-8")
        assert notes.count("early") == 1
        assert "came later" in notes
    finally:
        snapshots(unique, remove=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["codex", "claude-code", "nanobot"])
def test_a_real_program_goes_on_with_its_session_in_a_fork(
    tmp_path: Path, unique: str, name: str
) -> None:
    def write(number: int) -> dict[str, JsonValue]:
        return {"template": False, "run": f"echo '{{\"n\": {number}}}' > results/out.json"}

    rules: list[dict[str, JsonValue]] = [
        {"when": {"last_role": "tool"}, "reply": {"text": "It is counted by the oar."}},
        {"when": {"seen": "counted by the oar", "last_role": "user"}, "reply": write(3)},
        {"when": {"last_role": "user"}, "reply": write(4)},
    ]
    model = write_script(tmp_path / "model.yaml", rules)
    try:
        played = run(
            write_task(tmp_path),
            tmp_path / "runs",
            environment="docker",
            run=unique,
            snapshots=True,
            executor=(f"{name}:{model}",),
        )
        assert [r.verdict.score for r in only(played).rounds if r.verdict] == [0.25, 1.0]
        record = only(continue_(played, f"{unique}-f"))
        assert record.outcome is Outcome.PASS
        assert [r.verdict.score for r in record.rounds if r.verdict] == [0.25, 1.0]
    finally:
        snapshots(unique, remove=True)
