"""Wall time of one closed-loop episode against the raw Docker floor, in the same run.

    python -m tests.benchmarks.episode [--repeat N]

Workload: four rounds, ten executor commands of `true` a round, 1 MB of artifacts, one grader
container. The floor makes the same creates, starts, commands, copies and removes with the
bare SDK. Also: `uniclaw --help`, and how far eight parallel episodes grow the runner.
Ends with one line of JSON.
"""

import argparse
import asyncio
import json
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# docker's own annotations are partly unknown; this benchmark measures the bare SDK on purpose.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
import docker

from uniclaw.assets import Assets, default_roots
from uniclaw.config import RunSettings
from uniclaw.environments.images import Images
from uniclaw.experiment import plan
from uniclaw.runner.local import LocalRunner
from uniclaw.runner.seats import Workshop
from uniclaw.store.run_store import RunStore
from uniclaw.suites import load_suite

ROUNDS = 4
COMMANDS = 10
ARTIFACT_BYTES = 1_000_000
IDLE = "trap 'exit 0' TERM; while :; do sleep 2147483647 & wait $!; done"

TASK = """
task_id: workload
instruction: Run ten commands.
environment: base
budget: {feedback_rounds: 3}
"""
RUBRIC = """
threshold: 0.9
checkpoints:
  - id: never
    weight: 1.0
    description: Never met, so that all rounds are played.
    check: {kind: python, function: never}
"""
CHECKS = "def never(evidence, references):\n    return {'value': 0.5, 'reason': 'by design'}\n"


def write_suite(root: Path) -> Path:
    """The workload as a native suite."""
    suite, rubric = root / "suite", root / "rubrics" / "workload"
    (suite / "workload").mkdir(parents=True)
    (rubric / "solution").mkdir(parents=True)
    (suite / "suite.yaml").write_text("name: workload\nrubrics: ../rubrics\n", encoding="utf-8")
    (suite / "workload" / "task.yaml").write_text(TASK, encoding="utf-8")
    (rubric / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    (rubric / "checks.py").write_text(CHECKS, encoding="utf-8")
    for number in range(ROUNDS):
        steps = ["true"] * COMMANDS
        if number == 0:
            steps[0] = f"head -c {ARTIFACT_BYTES} /dev/zero > results/artifact.bin"
        script = "\n#---\n".join(steps)
        (rubric / "solution" / f"round-{number}.sh").write_text(script + "\n", encoding="utf-8")
    return suite


def play(suite_dir: Path, runs: Path, *, trials: int, parallel: int) -> float:
    """Play the workload; returns wall seconds of the episodes alone."""
    settings = RunSettings(suite=str(suite_dir), trials=trials, parallel=parallel)
    assets = Assets(default_roots(None))
    suite = load_suite(settings.suite, assets=assets)
    name = f"bench-{secrets.token_hex(4)}"
    workshop = Workshop(
        run=name, settings=settings, suite=suite, assets=assets, environ={}, notify=lambda _: None
    )
    workshop.prepare_images()
    planned = plan(name, settings, suite)
    with RunStore.create(runs, name, {}) as store:
        workshop.store = store
        runner = LocalRunner(
            store=store, assemble=workshop.assemble, watcher=_Silent(), parallel=parallel
        )
        start = time.perf_counter()
        asyncio.run(runner.run(planned))
        seconds = time.perf_counter() - start
        records = list(store.episodes())
    wrong = [(r.outcome.value, r.reason) for r in records if len(r.rounds) != ROUNDS]
    if wrong or len(records) != trials:
        raise SystemExit(f"the workload was not played as planned: {wrong}")
    return seconds


class _Silent:
    def started(self, planned: object) -> None:
        """Ignored."""

    def phase(self, planned: object, phase: str, round_number: int) -> None:
        """Ignored."""

    def settled(self, planned: object, record: object) -> None:
        """Ignored."""


def floor(image: str) -> float:
    """The same creates, starts, commands, copies and removes with the bare SDK."""
    api = docker.APIClient()
    start = time.perf_counter()
    agent = _container(api, image)
    grader = None
    for number in range(ROUNDS):
        for index in range(COMMANDS):
            command = "true"
            if number == 0 and index == 0:
                command = (
                    f"mkdir -p /tmp/results; head -c {ARTIFACT_BYTES} /dev/zero > /tmp/results/a"
                )
            _exec(api, agent, command)
        stream, _ = api.get_archive(agent, "/tmp/results")
        copied = b"".join(stream)
        grader = grader or _container(api, image)
        api.put_archive(grader, "/tmp", copied)
        _exec(api, grader, "python3 -I -c pass")
    for container in (agent, grader):
        if container:
            api.remove_container(container, force=True)
    seconds = time.perf_counter() - start
    api.close()
    return seconds


def _container(api: docker.APIClient, image: str) -> str:
    config = api.create_host_config(network_mode="none", mem_limit=2_000_000_000, init=True)
    labels = {"uniclaw": "1", "uniclaw.run": "benchmark-floor"}
    created = api.create_container(image, ["sh", "-c", IDLE], host_config=config, labels=labels)
    api.start(created["Id"])
    return str(created["Id"])


def _exec(api: docker.APIClient, container: str, command: str) -> None:
    handle = api.exec_create(container, ["sh", "-c", command])
    for _ in api.exec_start(handle["Id"], stream=True, demux=True):
        pass
    if api.exec_inspect(handle["Id"])["ExitCode"] != 0:
        raise SystemExit(f"floor command failed: {command}")


def rss_mb() -> float:
    """Resident memory of this process in MB."""
    text = Path("/proc/self/status").read_text(encoding="utf-8")
    line = next(x for x in text.splitlines() if x.startswith("VmRSS"))
    return int(line.split()[1]) / 1000


def help_seconds(repeat: int) -> float:
    """Median wall seconds of `uniclaw --help` in a fresh process."""
    times: list[float] = []
    for _ in range(repeat):
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "uniclaw.cli", "--help"],
            check=True,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
        )
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    image = Images(Assets(default_roots(None))).build("base").tag
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        suite = write_suite(root)
        play(suite, root / "warm", trials=1, parallel=1)
        floor(image)
        ours: list[float] = []
        bare: list[float] = []
        for _ in range(repeat):
            bare.append(floor(image))
            ours.append(play(suite, root / "runs", trials=1, parallel=1))
        before = rss_mb()
        play(suite, root / "many", trials=8, parallel=8)
        grown = rss_mb() - before
    ratios = [a / b for a, b in zip(ours, bare, strict=True)]
    figures = {
        "episode_s": statistics.median(ours),
        "floor_s": statistics.median(bare),
        "ratio": statistics.median(ratios),
        "ratio_min": min(ratios),
        "ratio_max": max(ratios),
        "over_floor_per_round_s": (statistics.median(ours) - statistics.median(bare)) / ROUNDS,
        "help_s": help_seconds(max(3, repeat)),
        "growth_8_parallel_mb": grown,
        "targets": {"ratio": 1.5, "over_floor_per_round_s": 0.25, "help_s": 0.3, "growth_mb": 60},
    }
    for name, value in figures.items():
        sys.stdout.write(f"{name:24} {value if isinstance(value, dict) else f'{value:.3f}'}\n")
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
