"""Sampling and reasoning effort as axes: named in the cell, sent to the model, or refused."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast, get_args

import pytest
from player import run
from pydantic import JsonValue
from suite_builder import write_script, write_task

from uniclaw.config import FACTORS, Effort, MoreAxes, RunSettings
from uniclaw.errors import UserError
from uniclaw.experiment import cells
from uniclaw.harnesses.cli import Seating
from uniclaw.harnesses.codex import Codex
from uniclaw.models import anthropic, openai
from uniclaw.models.cassette import request_key
from uniclaw.models.metering import Exchange
from uniclaw.ports import ChatRequest, Environment, ModelDoor, text_message
from uniclaw.records import RoleUsage, Task, TaskId
from uniclaw.store.run_store import RunStore

ASK = ChatRequest(messages=(text_message("user", "hello"),))


def of(executor: str, **axes: JsonValue) -> RunSettings:
    return RunSettings.model_validate({"suite": "s", "executor": [executor], "axes": axes})


def test_words_stand_for_factors_on_budgets() -> None:
    axes = MoreAxes.model_validate({"budget": ["half", "standard", "double", 1.5]})
    assert axes.budget == (*FACTORS.values(), 1.5)
    with pytest.raises(ValueError, match="budget"):
        MoreAxes.model_validate({"budget": ["quarter"]})


def test_effort_and_sampling_make_cells() -> None:
    found = cells(of("loop:openai/x", effort=["low", "high"], top_p=[0.5, 1]))
    assert [axes.cell.split(" | ")[-2:] for axes in found] == [
        ["top_p 0.5", "effort low"],
        ["top_p 0.5", "effort high"],
        ["top_p 1", "effort low"],
        ["top_p 1", "effort high"],
    ]


@pytest.mark.parametrize(
    ("executor", "axes", "named"),
    [
        ("oracle", {"effort": ["low"]}, "effort needs a model"),
        ("oracle", {"top_p": [0.5]}, "top_p needs a model"),
        ("codex:openai/x", {"temperature": [0]}, "codex harness cannot be told .* temperature"),
        ("nanobot:openai/x", {"effort": ["low"]}, "nanobot harness cannot be told .* effort"),
        ("codex:anthropic/x", {"effort": ["low"]}, r"axes\.effort.*codex"),
        ("loop:anthropic/x", {"effort": ["minimal"]}, "knows low, medium"),
    ],
)
def test_what_cannot_be_passed_on_is_refused(
    executor: str, axes: Mapping[str, JsonValue], named: str
) -> None:
    with pytest.raises(UserError, match=named):
        cells(of(executor, **axes))


def test_an_unknown_effort_is_refused() -> None:
    with pytest.raises(ValueError, match="effort"):
        of("loop:openai/x", effort=["enormous"])


def test_providers_get_them_by_their_own_names() -> None:
    from anthropic.types import OutputConfigParam
    from openai.types.shared import ReasoningEffort

    asked = ASK.model_copy(update={"effort": "high", "top_p": 0.5})
    body = openai.request_body(
        asked, model="m", stream=False, limit_field="max_tokens", json_by_tool=False
    )
    assert (body["reasoning_effort"], body["top_p"]) == ("high", 0.5)
    body = anthropic.request_body(asked, model="m", stream=False)
    assert (body["output_config"], body["top_p"]) == ({"effort": "high"}, 0.5)
    assert "effort" in OutputConfigParam.__annotations__
    known = str(ReasoningEffort)
    assert all(repr(word) in known for word in get_args(Effort))
    plain = anthropic.request_body(ASK, model="m", stream=False)
    assert not {"output_config", "top_p", "temperature"} & set(plain)


def test_codex_is_told_by_its_configuration() -> None:
    def config(effort: Effort | None) -> str:
        door = ModelDoor("http://x", "t", "m", spent=RoleUsage, effort=effort)
        task = Task(task_id=TaskId("t"), suite="s", instruction="i", family="f")
        nowhere = cast("Environment", None)
        seating = Seating(
            environment=nowhere, home="/root", workspace="/w", door=door, task=task, seed=0
        )
        (text,) = Codex(seating).files().values()
        return text.decode()

    assert 'model_reasoning_effort = "xhigh"\n' in config("xhigh")
    assert "model_reasoning_effort" not in config(None)


def test_requests_of_older_recordings_are_still_recognised() -> None:
    keys = {request_key(ASK.model_copy(update={"effort": e}), {}) for e in (None, "low", "high")}
    assert len(keys) == 3
    assert request_key(ASK, {}).startswith("d0a4c2c297c22f72"), "a stored run would be asked anew"


def test_the_executors_requests_carry_what_the_cell_says(tmp_path: Path) -> None:
    model = write_script(tmp_path / "m.yaml", [{"when": {}, "reply": {"text": "Done."}}])
    axes = MoreAxes(effort=("low", "high"), top_p=(0.25,), temperature=(0.0,))
    result = run(
        write_task(tmp_path),
        tmp_path / "runs",
        executor=(f"loop:{model}",),
        model_in_process=True,
        feedback_rounds=0,
        axes=axes,
    )
    with RunStore.open(result.root) as store:
        for record in result.records:
            (call,) = store.calls(record.episode_id)
            request = Exchange.model_validate_json(store.get_blob(call.blob)).request
            assert (request.temperature, request.top_p) == (0.0, 0.25)
            assert request.effort == record.axes.effort
    assert {r.axes.effort for r in result.records} == {"low", "high"}
