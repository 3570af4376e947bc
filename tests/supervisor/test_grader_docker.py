"""The grader in real containers."""

import io
import secrets
from collections.abc import AsyncIterator, Generator
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont
from pydantic import JsonValue
from recording import RecordingFactory
from workshop import Workshop, one_line

from uniclaw.assets import Assets, default_roots
from uniclaw.environments.docker import DockerFactory
from uniclaw.environments.engine import connect
from uniclaw.environments.images import Images
from uniclaw.environments.labels import RUN
from uniclaw.environments.wire import DockerApi
from uniclaw.supervisor.grader import Grader
from uniclaw.supervisor.supervise import Supervisor

pytestmark = pytest.mark.docker


@pytest.fixture(scope="module")
def engine() -> Generator[DockerApi, None, None]:
    api = connect()
    yield api
    api.close()


@pytest.fixture(scope="module")
def images(engine: DockerApi) -> Images:
    repository = Path(__file__).resolve().parents[2]
    found = Images(Assets(default_roots(None, environ={}, cwd=repository)), engine)
    found.build("base")
    return found


@pytest.fixture
async def docker_shop(images: Images, engine: DockerApi, tmp_path: Path) -> AsyncIterator[Workshop]:
    run = f"test-{secrets.token_hex(6)}"
    workshop = Workshop(tmp_path, RecordingFactory(DockerFactory(images, run=run)))
    yield workshop
    for grader in workshop.graders:
        await grader.close()
    assert not engine.containers(all=True, filters={"label": f"{RUN}={run}"})


async def test_a_round_is_graded_in_containers(docker_shop: Workshop):
    shop = docker_shop
    shop.reference("key.txt", "42")
    shop.beside("fixtures/in.txt", "21")
    shop.beside(
        "checks.py",
        """
import os, socket
def check(evidence, references):
    try:
        socket.create_connection(("1.1.1.1", 53), timeout=1)
        return {"value": 0, "reason": "there is a network"}
    except OSError:
        pass
    right = evidence.text("a.txt").strip() == references.text("references/key.txt")
    return {"value": right, "reason": f"uid {os.getuid()}"}
""",
    )
    command: dict[str, JsonValue] = {
        "kind": "command",
        "run": "test ! -e /grader && test ! -e references "
        "&& python3 results/solve.py fixtures/in.txt",
        "files": {"/workspace/fixtures/in.txt": "fixtures/in.txt"},
        "then": {"kind": "text", "path": "stdout", "contains": [42]},
    }
    python: dict[str, JsonValue] = {"kind": "python", "function": "check"}
    supervisor = shop.supervisor(one_line({"kind": "all", "of": [python, command]}))
    solve = "import sys\nprint(int(open(sys.argv[1]).read()) * 2)\n"
    for text, score in [("41", 0.0), ("42", 1.0)]:
        evidence = shop.evidence({"a.txt": text, "solve.py": solve})
        verdict = await supervisor.supervise(evidence, rounds_left=1)
        assert verdict.score == score, verdict.rationale
    assert verdict.lines[0].result.reason.startswith("uid ")
    assert "uid 0" not in verdict.lines[0].result.reason


async def test_code_that_kills_its_container_is_not_met(docker_shop: Workshop):
    check: dict[str, JsonValue] = {
        "kind": "command",
        "run": "sh -c 'kill -9 -1'; echo still here",
        "then": {"kind": "text", "path": "stdout", "contains": ["still here"]},
    }
    result = (await docker_shop.verdict(check, docker_shop.evidence({}))).lines[0].result
    assert result.value == 0.0


@pytest.mark.slow
async def test_ocr_reads_both_scripts(images: Images, docker_shop: Workshop):
    images.build("office")
    shop = docker_shop
    image = Image.new("RGB", (900, 160), "white")
    font = ImageFont.load_default(size=64)
    ImageDraw.Draw(image).text((30, 40), "Invoice 1234.50", fill="black", font=font)
    stream = io.BytesIO()
    image.save(stream, "PNG")
    check: dict[str, JsonValue] = {
        "kind": "image",
        "path": "a.png",
        "ocr_contains": ["invoice", 1234.5],
        "ocr_language": "eng+chi_sim",
    }
    grader = Grader(factory=shop.factory, image="office")
    shop.graders.append(grader)
    supervisor = Supervisor(
        loaded=shop.load(one_line(check)), bundle_sources={}, grader=grader, judge=None
    )
    verdict = await supervisor.supervise(shop.evidence({"a.png": stream.getvalue()}), rounds_left=0)
    assert verdict.score == 1.0, verdict.rationale
