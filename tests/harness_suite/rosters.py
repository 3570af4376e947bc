"""Which harness programs are played in every test run, and which on demand; their images."""

from uniclaw.environments.images import Images
from uniclaw.environments.layers import build_layer
from uniclaw.harnesses import harness_kind

QUICK = ("codex", "claude-code", "nanobot")
HEAVY = ("opencode", "hermes", "mini-swe-agent", "genericagent", "openclaw", "openclaw-once")
"""Their images and turns take minutes: `pytest -m slow tests/harness_suite`."""


def image_with(harness: str, images: Images) -> str:
    """The base image with the harness's layer; built when it is missing."""
    layer = harness_kind(harness, images.assets).layer
    assert layer is not None
    return build_layer(images, "base", layer, lambda line: None)
