"""Forks in the process environment: the state they continue, and what is refused."""

import json
from pathlib import Path

import pytest
from player import Quiet, only, run
from suite_builder import RIGHT, WRONG, write_script, write_task

from uniclaw.environments.clean import clean
from uniclaw.errors import UserError
from uniclaw.records import Outcome
from uniclaw.runner.fork import Forked, fork
from uniclaw.store.run_store import RunStore


def continue_(root: Path, episode: str, number: int = 0, **given: object) -> Forked:
    settings = {"firewall": ("open",), "user_simulator": (), "trials": 1, "name": "f", **given}
    return fork(
        root,
        episode,
        round_number=number,
        environ={},
        notify=lambda _: None,
        watch=lambda _: Quiet(),
        **settings,  # pyright: ignore[reportArgumentType]
    )


def test_a_fork_has_the_files_of_that_round_and_goes_its_own_way(tmp_path: Path) -> None:
    look = "cat work.txt > results/seen; echo later >> work.txt\n" + RIGHT
    suite = write_task(tmp_path, rounds=("echo early > work.txt\n#---\n" + WRONG, look))
    played = run(suite, tmp_path / "runs", snapshots=True)
    parent = only(played)
    forked = continue_(played.root, parent.episode_id, trials=2)
    assert [r.outcome for r in forked.result.records] == [Outcome.PASS, Outcome.PASS]
    for record in forked.result.records:
        assert record.parent == f"r/{parent.episode_id}"
        assert record.parent_round == 0
        assert record.rounds[0].final_message == parent.rounds[0].final_message
        assert record.rounds[0].verdict == parent.rounds[0].verdict
        assert record.axes.policy == "open"
        evidence = forked.result.root / "episodes" / record.episode_id / "evidence"
        seen = evidence / "1" / "workspace" / "results" / "seen"
        assert seen.read_text(encoding="utf-8") == "early\n"
    assert forked.result.records[0].seed == parent.seed
    with RunStore.open(forked.result.root) as store:
        stored = json.loads(json.dumps(store.settings))
    assert stored["parent"] == {
        "run": "r",
        "by": "fork",
        "episode": parent.episode_id,
        "round": 0,
    }


def test_the_loops_conversation_goes_on_in_a_fork(tmp_path: Path) -> None:
    def shell(command: str) -> dict[str, object]:
        return {"tool_calls": [{"name": "shell", "arguments": {"command": command}}]}

    wrong, right = (shell(f"echo '{{\"n\": {n}}}' > results/out.json") for n in (4, 3))
    model = write_script(
        tmp_path / "model.yaml",
        [
            {"when": {"last_role": "tool"}, "reply": {"text": "It is counted by the oar."}},
            {"when": {"seen": "counted by the oar", "last_role": "user"}, "reply": right},
            {"when": {"last_role": "user"}, "reply": wrong},
        ],  # pyright: ignore[reportArgumentType]
    )
    played = run(
        write_task(tmp_path),
        tmp_path / "runs",
        snapshots=True,
        executor=(f"loop:{model}",),
        model_in_process=True,
    )
    parent = only(played)
    assert parent.outcome is Outcome.PASS
    record = continue_(played.root, parent.episode_id).result.records[0]
    assert record.outcome is Outcome.PASS
    assert [r.verdict.score for r in record.rounds if r.verdict] == [0.25, 1.0]
    assert record.usage["executor"].calls == 2


def test_a_fork_can_be_forked(tmp_path: Path) -> None:
    played = run(
        write_task(tmp_path, rounds=(WRONG, WRONG, RIGHT)), tmp_path / "runs", snapshots=True
    )
    first = continue_(played.root, only(played).episode_id)
    second = continue_(first.result.root, first.result.records[0].episode_id, 1, name="g")
    assert [r.round for r in second.result.records[0].rounds] == [0, 1, 2]
    assert second.result.records[0].parent == f"f/{first.result.records[0].episode_id}"


@pytest.mark.parametrize(
    ("number", "said"),
    [(7, "rounds 0 to 1"), (-1, "rounds 0 to 1"), (1, "ended by pass")],
)
def test_a_round_that_cannot_be_continued_is_refused(
    tmp_path: Path, number: int, said: str
) -> None:
    played = run(write_task(tmp_path), tmp_path / "runs", snapshots=True)
    with pytest.raises(UserError, match=said):
        continue_(played.root, only(played).episode_id, number)
    assert not (tmp_path / "runs" / "f").exists()


def test_what_kept_nothing_and_unknown_names_are_refused(tmp_path: Path) -> None:
    played = run(write_task(tmp_path), tmp_path / "runs")
    episode = only(played).episode_id
    with pytest.raises(UserError, match="--snapshots"):
        continue_(played.root, episode)
    with pytest.raises(UserError, match="episode"):
        continue_(played.root, "e0000000000")
    kept = run(write_task(tmp_path / "b"), tmp_path / "runs", snapshots=True, run="kept")
    with pytest.raises(UserError, match="whispered"):
        continue_(kept.root, only(kept).episode_id, firewall=("whispered",))


def test_a_snapshot_that_was_cleaned_away_ends_the_fork_with_the_reason(tmp_path: Path) -> None:
    played = run(write_task(tmp_path), tmp_path / "runs", snapshots=True)
    episode = only(played).episode_id
    file = played.root / "episodes" / episode / "rounds" / "0" / "boundary.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    data["environment"] = "gone.00000000"
    file.write_text(json.dumps(data), encoding="utf-8")
    record = continue_(played.root, episode).result.records[0]
    assert record.outcome is Outcome.INFRA_ERROR
    assert "no such snapshot" in str(record.reason)


def test_a_sweep_can_leave_snapshots(tmp_path: Path) -> None:
    place = tmp_path / "places"
    for name in ("uniclaw-0011", "e12-0.aabb"):
        (place / name).mkdir(parents=True)
        for file, text in (("owner", "x"), ("run", "r"), ("episode", "e")):
            (place / name / file).write_text(text, encoding="utf-8")
    removed = clean(docker=False, directory=place, snapshots=False)
    assert "e12-0.aabb" not in removed.directories
