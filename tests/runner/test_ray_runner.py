"""The driver's side of a cluster, with machines that are played by this process."""

import asyncio
import io
import json
import os
import signal
import sys
import tarfile
from collections.abc import Callable, Generator, Mapping
from pathlib import Path

import pytest
from player import Quiet, only
from pydantic import JsonValue
from suite_builder import RIGHT, RUBRIC, WRONG, write_script, write_task

from uniclaw.assets import Assets, default_roots
from uniclaw.config import RunSettings
from uniclaw.errors import StoreError, UserError
from uniclaw.records import Outcome
from uniclaw.runner import ray_body, ray_cluster
from uniclaw.runner.engines import Engine, parse_engine
from uniclaw.runner.equality import run_differences
from uniclaw.runner.history import paid_by
from uniclaw.runner.ray_files import Shop, copy_of, load
from uniclaw.runner.ray_nodes import NodeInfo, NodeLost, Pool
from uniclaw.runner.ray_parcel import Delivery, Job, Letter, Ready, Refused, ShopOrder, unpack
from uniclaw.runner.ray_runner import MAX_LOST, order_of
from uniclaw.runner.resume import resume
from uniclaw.runner.start import RunResult, play, prepare
from uniclaw.store.run_store import RunStore

JUDGED: Mapping[str, JsonValue] = {
    **RUBRIC,
    "checkpoints": [
        {"id": "kind", "weight": 1.0, "description": "Polite.", "check": {"kind": "judge"}}
    ],
}
Played = Delivery | Refused


class Machines:
    """A cluster whose machines are this process; `during` decides what becomes of a play."""

    def __init__(self, *hosts: str) -> None:
        self.all = [NodeInfo(f"id-{host}", host, 2) for host in hosts or ("one", "two")]
        self.seen: list[Letter] = []
        self.swept: list[str] = []
        self.copies: list[bytes] = []
        self.jobs: list[tuple[str, Job]] = []
        self.during: Callable[[NodeInfo, Job], None] = lambda node, job: None
        self.after: Callable[[NodeInfo, Job, Played], Played] = lambda node, job, found: found
        self.images: Callable[[NodeInfo], Ready | Refused] = lambda node: Ready({})
        self.closed = False
        self.twice, self.started = False, 0

    def nodes(self) -> list[NodeInfo]:
        return self.all

    async def inspect(self, node: NodeInfo, order: ShopOrder, *, copy: bool) -> Ready | Refused:
        return self.images(node)

    async def play(self, node: NodeInfo, job: Job, *, copy: bool) -> Played:
        self.jobs.append((node.host, job))
        self.during(node, job)
        starts = [asyncio.to_thread(ray_body.play, job, None, self.seen.append)]
        if self.twice:
            starts.append(asyncio.to_thread(ray_body.play, job, None, self.seen.append))
        self.started += len(starts)
        *_, found = await asyncio.gather(*starts)
        await asyncio.sleep(0.6)  # so that letters are read before the delivery is
        return self.after(node, job, found)

    async def sweep(self, node: NodeInfo, order: ShopOrder) -> str:
        self.swept.append(node.host)
        return ""

    async def letters(self) -> list[Letter]:
        letters, self.seen[:] = list(self.seen), []
        return letters

    def offer(self, copy: Callable[[], bytes]) -> None:
        self.copies.append(copy())

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def machines(monkeypatch: pytest.MonkeyPatch) -> Generator[Machines]:
    made = Machines()

    def connect(address: str | None, *, parallel: int) -> Machines:
        return made

    monkeypatch.setattr(ray_cluster, "connect", connect)
    here = Path.cwd()
    yield made
    os.chdir(here)
    assert made.closed


def on_ray(suite: Path, runs: Path, **given: object) -> RunResult:
    settings: dict[str, object] = {
        "suite": str(suite),
        "environment": "process",
        "runs_dir": runs,
        "run": "r",
        "engine": "ray",
        **given,
    }
    return play(settings, environ={}, config=None, notify=lambda _: None, watch=lambda _: Quiet())


def judge(tmp_path: Path) -> str:
    line: Mapping[str, JsonValue] = {
        "id": "kind",
        "met": 1.0,
        "evidence": ["r0.e1"],
        "reason": "It is.",
    }
    reply: JsonValue = {"json": {"lines": [dict(line)]}}
    return write_script(tmp_path / "judge.yaml", [{"when": {}, "reply": reply}])


def test_an_engine_is_local_or_ray_with_an_address() -> None:
    assert parse_engine("local") == Engine("local")
    assert parse_engine("ray") == Engine("ray")
    assert parse_engine("ray:10.0.0.1:6379").address == "10.0.0.1:6379"
    for text in ("", "rey", "local:x", "ray:"):
        with pytest.raises(UserError, match="engine"):
            parse_engine(text)


def test_without_ray_installed_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UserError, match=r"uniclaw\[ray\]"):
        on_ray(write_task(tmp_path), tmp_path / "runs")
    assert not (tmp_path / "runs" / "r").exists()


@pytest.mark.parametrize("name", ["snapshots", "nested"])
def test_what_one_machine_alone_can_keep_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:

    def connect(address: str | None, *, parallel: int) -> None:
        pytest.fail("connected")

    monkeypatch.setattr(ray_cluster, "connect", connect)
    with pytest.raises(UserError, match=name):
        on_ray(write_task(tmp_path), tmp_path / "runs", **{name: True})


def test_a_body_that_starts_twice_makes_one_row(machines: Machines, tmp_path: Path) -> None:
    machines.twice = True
    suite = write_task(tmp_path)
    result = on_ray(suite, tmp_path / "runs")
    record = only(result)
    assert (record.outcome, machines.started) == (Outcome.PASS, 2)
    with RunStore.open(result.root) as store:
        assert len(store.rows()) == 1
        assert store.attempts.counts() == {"settled": 1}
    assert machines.swept == ["one", "two"]


def test_a_delivery_that_comes_twice_changes_nothing(machines: Machines, tmp_path: Path) -> None:
    kept: list[Played] = []
    machines.after = lambda node, job, found: kept.append(found) or found
    suite = write_task(tmp_path, rubric=JUDGED, rounds=(RIGHT,))
    result = on_ray(suite, tmp_path / "runs", supervisor=(judge(tmp_path),))
    (delivery,) = kept
    assert isinstance(delivery, Delivery)
    assert delivery.calls
    with RunStore.open(result.root) as store:
        assert store.calls(delivery.base_id) == [call.row for call in delivery.calls]
    assert only(result).usage["judge"].calls == 1


def test_answers_that_were_told_are_not_paid_again_after_a_loss(
    machines: Machines, tmp_path: Path
) -> None:
    def lose(node: NodeInfo, job: Job, found: Played) -> Played:
        if job.attempt == 1:
            raise NodeLost(f"node {node.host} was lost")
        return found

    machines.after = lose
    suite = write_task(tmp_path, rubric=JUDGED, rounds=(RIGHT,))
    record = only(on_ray(suite, tmp_path / "runs", supervisor=(judge(tmp_path),)))
    assert (record.outcome, record.attempt) == (Outcome.PASS, 2)
    (cut,) = record.earlier
    assert (cut.state, cut.spent["judge"].calls) == ("cut", 1)
    assert paid_by(record)["judge"].calls == record.usage["judge"].calls == 1
    assert len({host for host, _ in machines.jobs}) == 2
    with RunStore.open(tmp_path / "runs" / "r") as store:
        assert [c.reused for c in store.calls(record.episode_id)] == [True]


def test_an_episode_that_loses_every_machine_stays_without_a_score(
    machines: Machines, tmp_path: Path
) -> None:
    def lose(node: NodeInfo, job: Job) -> None:
        raise NodeLost(f"node {node.host} was lost")

    machines.during = lose
    result = on_ray(write_task(tmp_path), tmp_path / "runs")
    record = only(result)
    assert (record.outcome, record.final_score) == (Outcome.ENVIRONMENT_LOST, None)
    assert "node one was lost; node two was lost" in (record.reason or "")
    assert len(machines.jobs) == MAX_LOST
    assert result.exit_code == 1


def test_a_node_that_loses_its_engine_is_named_and_played_around(
    machines: Machines, tmp_path: Path
) -> None:
    def after(node: NodeInfo, job: Job, found: Played) -> Played:
        return Refused("EngineError: no engine answers") if node.host == "one" else found

    machines.after = after
    record = only(on_ray(write_task(tmp_path), tmp_path / "runs"))
    assert record.outcome is Outcome.PASS
    (failed,) = record.earlier
    assert (failed.state, failed.outcome) == ("failed", "infra_error")
    assert "node one (id-one) refused: EngineError" in (failed.reason or "")


def test_a_run_without_any_node_is_refused_before_it_begins(
    machines: Machines, tmp_path: Path
) -> None:
    machines.images = lambda node: Refused(f"no engine on {node.host}")
    with pytest.raises(UserError, match=r"node one .*no engine on one; node two"):
        on_ray(write_task(tmp_path), tmp_path / "runs")
    assert not (tmp_path / "runs" / "r").exists()


def test_machines_with_other_image_recipes_play_nothing(machines: Machines) -> None:
    machines.images = lambda node: Ready({"base": f"uniclaw/base:{node.host} sha256:{node.host}"})
    said: list[str] = []
    order = ShopOrder("r", RunSettings(suite="s"), "", "", "", ())
    pool = Pool(machines, order, said.append)
    asyncio.run(pool.open())
    assert [node.host for node in pool.usable] == ["one"]
    assert pool.images == {"base": "uniclaw/base:one"}
    assert "node two (id-two): its image recipes differ" in said[0]
    machines.close()


def test_a_second_interrupt_cancels_and_a_resume_plays_on(
    machines: Machines, tmp_path: Path
) -> None:
    def interrupt(node: NodeInfo, job: Job) -> None:
        for _ in range(2):
            asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGINT)

    machines.during = interrupt
    suite = write_task(tmp_path, rounds=(f"sleep 1\n#---\n{RIGHT}",))
    result = on_ray(suite, tmp_path / "runs")
    assert only(result).outcome is Outcome.CANCELLED
    assert result.interrupted
    machines.during = lambda node, job: None
    again, found = resume(
        result.root, environ={}, notify=lambda _: None, watch=lambda _: Quiet(), engine="ray"
    )
    assert len(found.cancelled) == 1
    assert (only(again).outcome, again.exit_code) == (Outcome.PASS, 0)


def test_a_run_is_played_on_by_either_engine(machines: Machines, tmp_path: Path) -> None:
    suite = write_task(tmp_path, rounds=(WRONG, RIGHT))
    first = on_ray(suite, tmp_path / "runs")
    for engine in ("local", "ray"):
        again, _ = resume(
            first.root, environ={}, notify=lambda _: None, watch=lambda _: Quiet(), engine=engine
        )
        assert run_differences(again.records, first.records) == []


def ordered(suite: Path) -> tuple[ShopOrder, bytes]:
    settings = RunSettings(suite=str(suite), environment="process")
    assets = Assets(default_roots(None, environ={}))
    done = prepare("r", settings, assets=assets, environ={}, notify=lambda _: None, build=False)
    here = Path.cwd().resolve()
    return order_of(done.workshop, here), copy_of(done.workshop, here)


def test_a_node_without_the_drivers_disk_plays_from_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNICLAW_CACHE", str(tmp_path / "cache"))
    (tmp_path / "driver").mkdir()
    write_task(tmp_path / "driver")
    monkeypatch.chdir(tmp_path / "driver")
    order, copy = ordered(Path("suite"))
    (tmp_path / "driver").rename(tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path)
    gone = load(order, None)
    assert isinstance(gone, Refused)
    assert gone.missing_files
    for _ in range(2):
        shop = load(order, copy)
        assert isinstance(shop, Shop), shop
        assert shop.directory.is_relative_to(tmp_path / "cache")
        assert [p.bundle.task_id for p in shop.prepared.planned] == ["count"]
        os.chdir(tmp_path)


def test_a_node_with_other_files_is_refused_with_the_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = write_task(tmp_path)
    monkeypatch.chdir(tmp_path)
    order, _ = ordered(suite)
    (suite / "count" / "sources" / "boats.txt").write_text("more\n", encoding="utf-8")
    found = load(order, None)
    assert isinstance(found, Refused)
    assert "inputs.tasks.count.sources" in found.reason
    shaping = json.loads(order.shaping)
    shaping["versions"]["uniclaw"] = "0.0.1"
    found = load(order._replace(shaping=json.dumps(shaping)), None)
    assert isinstance(found, Refused)
    assert "versions.uniclaw: 0.0.1" in found.reason


@pytest.mark.parametrize(
    ("name", "kind"),
    [("../x", tarfile.REGTYPE), ("/x", tarfile.REGTYPE), ("x", tarfile.SYMTYPE)],
)
def test_a_delivery_cannot_leave_its_directory(tmp_path: Path, name: str, kind: bytes) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = kind, "/etc"
        tar.addfile(member, io.BytesIO(b""))
    with pytest.raises(StoreError, match="a delivery holds"):
        unpack(buffer.getvalue(), tmp_path / "in")
    with pytest.raises(StoreError, match="cannot be read"):
        unpack(b"no tar" * 200, tmp_path / "in2")
