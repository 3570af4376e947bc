"""Pieces of an answer as blocks that open, grow and close strictly one after another.

Chat completions may interleave the calls of one answer; the other two APIs may not. Calls
that start while another runs wait, and are written when it is whole.
"""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from uniclaw.gateway.translate.talk import (
    CallDone,
    CallPiece,
    CallStarted,
    Kind,
    Piece,
    Spoken,
)


@dataclass
class Block:
    """One block of an answer."""

    kind: Literal["text", "thought", "refusal", "call"]
    index: int = 0
    """Position among the blocks that were opened."""
    call_id: str = ""
    name: str = ""
    custom: bool = False
    texts: list[str] = field(default_factory=list[str])
    signature: str = ""
    done: bool = False

    @property
    def text(self) -> str:
        """All of it so far."""
        return "".join(self.texts)


class Step(NamedTuple):
    """What happens to a block."""

    what: Literal["open", "piece", "close"]
    block: Block
    text: str = ""


class Sequencer:
    """Turns pieces into steps."""

    def __init__(self) -> None:
        self._current: Block | None = None
        self._waiting: list[Block] = []
        self._calls: dict[int, Block] = {}
        self._opened = 0

    def feed(self, piece: Piece) -> list[Step]:
        """Steps for one piece; pieces that are no content give none."""
        if isinstance(piece, Spoken):
            return self._spoken(piece.kind, piece.text, piece.signature)
        if isinstance(piece, CallStarted):
            return self._call_started(piece)
        if isinstance(piece, CallPiece):
            return self._call_piece(piece)
        if isinstance(piece, CallDone):
            return self._call_done(piece)
        return []

    def finish(self) -> list[Step]:
        """Steps that close everything."""
        steps = self._close()
        while self._waiting:
            steps += [*self._open(self._waiting.pop(0)), *self._close()]
        return steps

    def _open(self, block: Block) -> list[Step]:
        block.index = self._opened
        self._opened += 1
        self._current = block
        waited = block.text
        return [Step("open", block), *([Step("piece", block, waited)] if waited else [])]

    def _close(self) -> list[Step]:
        block, self._current = self._current, None
        return [] if block is None else [Step("close", block)]

    def _spoken(self, kind: Kind, text: str, signature: str) -> list[Step]:
        steps: list[Step] = []
        if self._current is None or self._current.kind != kind:
            steps = self.finish()
            steps += self._open(Block(kind))
        block = self._current
        if block is None:
            return steps
        block.signature += signature
        if text:
            block.texts.append(text)
            steps.append(Step("piece", block, text))
        return steps

    def _call_started(self, piece: CallStarted) -> list[Step]:
        block = Block("call", call_id=piece.id, name=piece.name, custom=piece.custom)
        self._calls[piece.key] = block
        current = self._current
        if current is not None and current.kind == "call" and not current.done:
            self._waiting.append(block)
            return []
        return [*self._close(), *self._open(block)]

    def _call_piece(self, piece: CallPiece) -> list[Step]:
        block = self._calls.get(piece.key)
        if block is None or block.done:
            return []
        block.texts.append(piece.text)
        return [Step("piece", block, piece.text)] if block is self._current else []

    def _call_done(self, piece: CallDone) -> list[Step]:
        block = self._calls.get(piece.key)
        if block is None:
            return []
        block.done = True
        steps: list[Step] = []
        while self._current is not None and self._current.kind == "call" and self._current.done:
            steps += self._close()
            if self._waiting:
                steps += self._open(self._waiting.pop(0))
        return steps
