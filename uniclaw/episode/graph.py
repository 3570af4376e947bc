"""Wires the nodes into the LangGraph state machine of DESIGN 4."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

# LangGraph brings a tracing client that could ship whole states; it is off before the import.
os.environ["LANGSMITH_TRACING"] = "false"
os.environ["LANGCHAIN_TRACING_V2"] = "false"

from langgraph.graph import END, START, StateGraph

from uniclaw.episode import nodes
from uniclaw.episode.seat import Seat
from uniclaw.episode.state import (
    EpisodeState,
    ExecuteInput,
    FreezeInput,
    ProvisionInput,
    RelayInput,
    ScreenInput,
    SettleInput,
    SimulateInput,
    SuperviseInput,
)
from uniclaw.records import Outcome

# langgraph's own annotations leave its generics partly unknown; this module is where they end.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

RECURSION_LIMIT = 400
"""Supersteps of one episode; ten feedback rounds with two redraws each stay below 100."""


class Ending(NamedTuple):
    """How an episode's graph came to its end."""

    outcome: Outcome
    reason: str | None
    retry: bool | None = None
    """Whether another attempt may help; None leaves it to the outcome."""


def wire(seats: Mapping[str, Seat]) -> StateGraph[EpisodeState, None, EpisodeState, EpisodeState]:
    """The graph before it is compiled.

    Args:
        seats: live episodes by id; entries come and go while the graph is in use.
    """
    graph = StateGraph(EpisodeState)
    graph.add_node(
        "provision",
        nodes.guarded(nodes.provision, seats, ProvisionInput),
        input_schema=ProvisionInput,
        destinations=("execute", "relay", "settle"),
    )
    graph.add_node(
        "execute",
        nodes.guarded(nodes.execute, seats, ExecuteInput),
        input_schema=ExecuteInput,
        destinations=("freeze", "settle"),
    )
    graph.add_node(
        "freeze",
        nodes.guarded(nodes.freeze, seats, FreezeInput),
        input_schema=FreezeInput,
        destinations=("supervise", "settle"),
    )
    graph.add_node(
        "supervise",
        nodes.guarded(nodes.supervise, seats, SuperviseInput),
        input_schema=SuperviseInput,
        destinations=("relay", "settle"),
    )
    graph.add_node(
        "relay",
        nodes.guarded(nodes.relay, seats, RelayInput),
        input_schema=RelayInput,
        destinations=("simulate", "settle"),
    )
    graph.add_node(
        "simulate",
        nodes.guarded(nodes.simulate, seats, SimulateInput),
        input_schema=SimulateInput,
        destinations=("screen", "settle"),
    )
    graph.add_node(
        "screen",
        nodes.guarded(nodes.screen, seats, ScreenInput),
        input_schema=ScreenInput,
        destinations=("execute", "simulate", "settle"),
    )

    async def settle(state: SettleInput) -> dict[str, str]:
        return await nodes.settle(seats[state.episode], state)

    graph.add_node("settle", settle, input_schema=SettleInput)
    graph.add_edge(START, "provision")
    graph.add_edge("settle", END)
    return graph


class EpisodeGraph:
    """The compiled graph over one checkpoint file; plays every episode that has a seat."""

    def __init__(self, seats: Mapping[str, Seat], checkpoints: Path) -> None:
        """Use as an async context manager."""
        # Imported here: the graph can be drawn without a database.
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

        self._manager = AsyncSqliteSaver.from_conn_string(str(checkpoints))
        self._graph = wire(seats)

    async def __aenter__(self) -> "EpisodeGraph":
        self._app = self._graph.compile(checkpointer=await self._manager.__aenter__())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._manager.__aexit__(None, None, None)

    async def play(self, episode: str) -> Ending:
        """Run one episode from its start to its end, or on from its last checkpoint."""
        config = {"configurable": {"thread_id": episode}, "recursion_limit": RECURSION_LIMIT}
        known = await self._app.aget_state(config)  # pyright: ignore[reportArgumentType]
        start = None if known.values else {"episode": episode}
        state = await self._app.ainvoke(start, config, durability="sync")  # pyright: ignore[reportCallIssue, reportArgumentType]
        reason, retry = state.get("reason"), state.get("retry")
        return Ending(
            Outcome(str(state["outcome"])),
            None if reason is None else str(reason),
            None if retry is None else bool(retry),
        )

    async def position(self, episode: str) -> tuple[str, ...] | None:
        """Nodes an interrupted episode would go on with; empty at its end, None if unknown."""
        config = {"configurable": {"thread_id": episode}}
        known = await self._app.aget_state(config)  # pyright: ignore[reportArgumentType]
        return tuple(str(name) for name in known.next) if known.values else None


def mermaid() -> str:
    """The graph as Mermaid text."""
    return wire({}).compile().get_graph().draw_mermaid()
