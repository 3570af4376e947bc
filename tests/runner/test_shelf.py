"""What the episodes of a run share, and what their records say it came from."""

from pathlib import Path

from uniclaw.assets import Assets
from uniclaw.runner.shelf import Shelf


def test_a_value_is_made_once_and_every_episode_logs_what_it_was_made_from(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x", encoding="utf-8")
    shelf, made = Shelf(), list[str]()

    def make(assets: Assets) -> str:
        made.append("once")
        return assets.read_text("a.txt")

    episodes = [Assets((tmp_path,)) for _ in range(3)]
    assert [shelf.take(("text",), make, assets) for assets in episodes] == ["x", "x", "x"]
    assert made == ["once"]
    assert episodes[0].used == episodes[2].used != {}
    assert shelf.take(("other",), lambda _: "y", episodes[0]) == "y"
