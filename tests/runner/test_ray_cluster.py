"""A real local cluster of two nodes, one of them killed in mid-run: the same rows as without."""

import os
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Protocol

import pytest
from player import run
from suite_builder import RIGHT, WRONG, write_task

from uniclaw.errors import UserError
from uniclaw.experiment import Planned
from uniclaw.runner.equality import run_differences
from uniclaw.runner.ray_body import NODE_FILE
from uniclaw.runner.start import RunResult, play
from uniclaw.store.run_store import RunStore

# Ray leaves sockets and files of its own to the garbage collector, and warns of its own future.
pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.timeout(180),
]


class Cluster(Protocol):
    """What is used of `ray.cluster_utils.Cluster`."""

    address: str

    def add_node(self, **options: object) -> object: ...

    def remove_node(self, node: object, allow_graceful: bool = True) -> None: ...

    def shutdown(self) -> None: ...


HEALTH = {"health_check_period_ms": 1000, "health_check_failure_threshold": 8}
"""Short, so that a loss is seen soon; not so short that a busy machine is taken for dead."""


@pytest.fixture(scope="module")
def cluster() -> Generator[Cluster]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    cluster_utils = pytest.importorskip("ray.cluster_utils")
    options = {"num_cpus": 0, "object_store_memory": 80_000_000, "_system_config": HEALTH}
    made: Cluster = cluster_utils.Cluster(initialize_head=True, head_node_args=options)
    try:
        yield made
    finally:
        made.shutdown()


def node(cluster: Cluster, **options: object) -> object:
    return cluster.add_node(num_cpus=1, object_store_memory=80_000_000, **options)


class Killer:
    """A watcher that does something once, in the middle of a turn after some rows."""

    def __init__(self, after: int, act: "threading.Thread") -> None:
        self._after, self._act = after, act
        self.begun = False

    def started(self, planned: Planned) -> None: ...

    def phase(self, planned: Planned, phase: str, round_number: int) -> None:
        if phase == "execute" and self._after <= 0 and not self.begun:
            self.begun = True
            self._act.start()

    def settled(self, planned: Planned, record: object) -> None:
        self._after -= 1


def played(
    cluster: Cluster, suite: Path, runs: Path, watcher: object, **given: object
) -> tuple[RunResult, list[str]]:
    said: list[str] = []
    settings: dict[str, object] = {
        "suite": str(suite),
        "environment": "process",
        "runs_dir": runs,
        "run": "r",
        "engine": f"ray:{cluster.address}",
        **given,
    }
    result = play(
        settings,
        environ={},
        config=None,
        notify=said.append,
        watch=lambda _: watcher,  # pyright: ignore[reportArgumentType]
    )
    return result, said


def test_a_node_without_docker_is_refused_by_name(cluster: Cluster, tmp_path: Path) -> None:
    poor = node(cluster, env_vars={"DOCKER_HOST": f"unix://{tmp_path}/nothing.sock"})
    suite, nobody = write_task(tmp_path), Killer(99, threading.Thread())
    with pytest.raises(UserError, match=rf"node {os.uname().nodename} \(\w+\): EngineError"):
        played(cluster, suite, tmp_path / "runs", nobody, environment="docker")
    assert not (tmp_path / "runs" / "r").exists()
    cluster.remove_node(poor)


def test_a_node_killed_in_mid_run_costs_no_row(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rounds = (f"sleep 0.5\n#---\n{WRONG}", f"sleep 0.5\n#---\n{RIGHT}")
    suite = write_task(tmp_path, task_id="t0", rounds=rounds)
    for number in range(1, 4):
        write_task(tmp_path, task_id=f"t{number}", rounds=rounds)
    node(cluster)
    victim = node(cluster)
    act = threading.Thread(target=cluster.remove_node, args=(victim, False))
    killer = Killer(1, act)
    result, said = played(cluster, suite, tmp_path / "ray", killer)
    assert killer.begun
    act.join()
    assert capsys.readouterr().out == "", "Ray's notices would stand between results"

    alone = run(suite, tmp_path / "local")
    assert result.exit_code == alone.exit_code == 0
    assert run_differences(result.records, alone.records) == []
    cut = [a for record in result.records for a in record.earlier]
    assert {a.state for a in cut} == {"cut"}, said
    with RunStore.open(result.root) as store:
        assert len(store.rows()) == len({r.episode_id for r in result.records}) == 4
        assert store.attempts.counts() == {"settled": 4, "cut": len(cut)}
        assert store.attempts.open() == []
        places = [store.episode_dir(r.episode_id) / NODE_FILE for r in result.records]
        assert all(place.is_file() for place in places)
    assert not (result.root / "incoming").exists()
