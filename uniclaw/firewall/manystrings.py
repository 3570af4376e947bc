"""Search a text for many strings at once (Aho-Corasick, from pyahocorasick).

A typed door to an extension module that ships no types.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Generic, Protocol, TypeVar, cast

T = TypeVar("T")


class _Automaton(Protocol):
    def add_word(self, word: str, value: object, /) -> bool: ...
    def make_automaton(self) -> None: ...
    def iter(self, text: str, /) -> Iterator[tuple[int, object]]: ...


class _Module(Protocol):
    def Automaton(self) -> _Automaton: ...


class ManyStrings(Generic[T]):
    """An index of strings, each with a value."""

    def __init__(self, words: Mapping[str, T]) -> None:
        """Build the automaton; empty strings are ignored."""
        self._automaton: _Automaton | None = None
        kept = {word: value for word, value in words.items() if word}
        if kept:
            module = cast("_Module", import_module("ahocorasick"))
            self._automaton = module.Automaton()
            for word, value in kept.items():
                self._automaton.add_word(word, (word, value))
            self._automaton.make_automaton()

    def found(self, text: str) -> Iterator[tuple[int, str, T]]:
        """Every occurrence as (start, string, value), overlapping ones too."""
        if self._automaton is None:
            return
        for end, entry in self._automaton.iter(text):
            word, value = cast("tuple[str, T]", entry)
            yield end - len(word) + 1, word, value
