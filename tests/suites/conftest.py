"""Suites made in a temporary directory, and the imported rules by number."""

from collections.abc import Callable
from pathlib import Path

import pytest
from suite_makers import Checkout, NativeSuite

from uniclaw.assets import Assets


@pytest.fixture
def suite(tmp_path: Path) -> NativeSuite:
    return NativeSuite(tmp_path)


@pytest.fixture
def no_assets(tmp_path: Path) -> Assets:
    return Assets(roots=(tmp_path,))


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


@pytest.fixture
def rule_of(reference_data: Path) -> Callable[[str], str]:
    """Text of the imported rule of a task, by its number."""

    def find(number: str) -> str:
        pattern = f"injection/*/task_{number}_*/references/eval_rule.md"
        files = list((reference_data / "uniclawbench").glob(pattern))
        assert len(files) == 1, number
        return files[0].read_text(encoding="utf-8")

    return find
