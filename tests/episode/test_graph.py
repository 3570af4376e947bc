"""The state machine: its shape, and what each node may see of the state."""

from typing import get_type_hints

from pydantic import BaseModel

from uniclaw.episode.graph import mermaid, wire
from uniclaw.episode.state import EpisodeState

SEES = {
    "provision": {"episode"},
    "execute": {"episode", "round", "message_ref"},
    "freeze": {"episode", "round", "turn_ref"},
    "supervise": {"episode", "round", "evidence_ref"},
    "relay": {"episode", "round", "verdict_ref"},
    "simulate": {"episode", "round", "visit", "view_ref"},
    "screen": {"episode", "round", "visit", "draft_ref", "view_ref"},
    "settle": {"episode", "outcome", "reason"},
}


def registered() -> dict[str, type[BaseModel]]:
    found: dict[str, type[BaseModel]] = {}
    for name, node in wire({}).nodes.items():
        schema = node.input_schema
        assert isinstance(schema, type)
        assert issubclass(schema, BaseModel)
        found[name] = schema
    return found


def test_each_node_sees_its_own_channels_and_no_other() -> None:
    assert {name: set(schema.model_fields) for name, schema in registered().items()} == SEES


def test_node_inputs_refuse_further_fields() -> None:
    for schema in registered().values():
        assert schema.model_config.get("extra") == "forbid"


def test_the_verdict_is_in_no_role_nodes_input() -> None:
    for name in ("execute", "simulate"):
        assert "verdict_ref" not in SEES[name]
        assert "evidence_ref" not in SEES[name]


def test_state_holds_scalars_only() -> None:
    for name, kind in get_type_hints(EpisodeState).items():
        assert kind in (str, int, str | None, bool | None), name


def test_the_graph_can_be_drawn() -> None:
    drawing = mermaid()
    for name in SEES:
        assert name in drawing
    assert "screen -.-> simulate" in drawing
    assert "simulate -.-> execute" not in drawing
