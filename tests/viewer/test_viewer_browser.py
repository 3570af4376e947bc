"""Every page in a real headless Chromium: English and Chinese, desktop and phone, light and dark.

Skipped where playwright or Chromium is missing, unless UNICLAW_REQUIRE_BROWSER=1. Screenshots are
written to pytest's temporary directory, or to UNICLAW_SCREENSHOTS. axe looks at every page too:
the copy that the package axe-core-python brings, or a newer one at UNICLAW_AXE.
"""

import os
import re
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import pytest
import uvicorn
from stage import HIDDEN, client, copied, episodes, leaderboard, tokens
from test_viewer_pages import links

from uniclaw.viewer.app import build_app
from uniclaw.viewer.guard import Door
from uniclaw.viewer.render import Site
from uniclaw.viewer.serve import listen

CHROMIUM = next(
    (p for n in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(n))), None
)
REQUIRED = os.environ.get("UNICLAW_REQUIRE_BROWSER") == "1"
try:
    from playwright.sync_api import Browser, Page, Response, sync_playwright
except ImportError:
    if REQUIRED:
        raise
    pytest.skip("playwright is not installed", allow_module_level=True)
if CHROMIUM is None and not REQUIRED:
    pytest.skip("no Chromium (apt-get install chromium)", allow_module_level=True)

AXE = Path(os.environ.get("UNICLAW_AXE") or str(resources.files("axe_core_python") / "axe.min.js"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests."""
    assert CHROMIUM is not None, "UNICLAW_REQUIRE_BROWSER=1 and no Chromium is installed"
    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


def serving(runs: Path, *, hidden: bool = False) -> Iterator[str]:
    """A server in a thread; gives its address."""
    taken = listen("127.0.0.1", 0)
    app = build_app(Site(runs=runs, hidden=hidden), Door(host="127.0.0.1", token=None))
    config = uvicorn.Config(app, log_level="error", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: server.run(sockets=[taken]), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{taken.getsockname()[1]}"
    server.should_exit = True
    thread.join(timeout=10)


@pytest.fixture(scope="module")
def address(runs: Path) -> Iterator[str]:
    """The stored run, with the hidden side."""
    leaderboard(client(runs, hidden=True))
    yield from serving(runs, hidden=True)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots go."""
    given = os.environ.get("UNICLAW_SCREENSHOTS")
    if not given:
        return tmp_path_factory.mktemp("screenshots")
    Path(given).mkdir(parents=True, exist_ok=True)
    return Path(given)


class Look(NamedTuple):
    """How a page is looked at."""

    lang: str
    width: int
    scheme: str
    axe: bool

    @property
    def name(self) -> str:
        return f"{self.lang}-{self.width}-{self.scheme}"


LOOKS = (
    Look("en", 1280, "light", True),
    Look("zh", 390, "dark", True),
    Look("en", 390, "light", False),
    Look("zh", 1280, "dark", False),
)


def addresses(runs: Path) -> dict[str, str]:
    """One of every kind of page."""
    app = client(runs, hidden=True)
    one, two = episodes(runs)[:2]
    base = f"/r/main/e/{one}"
    found = links(app.get(base).text)
    previews = {
        f"preview-{kind}": next(a for a in found if "/preview/0/" in a and kind in a)
        for kind in (".html", ".png", ".bin", ".csv")
    }
    number = re.findall(r"/exchange/(\d+)", app.get(f"{base}/exchanges").text)[0]
    lenses = ("executor", "simulator", "supervisor", "referee")
    return {
        "runs": "/",
        "run": "/r/main",
        "episodes": "/r/main/episodes",
        "matrix": "/r/main/matrix",
        "tasks": "/r/main/tasks",
        "task": "/r/main/tasks/count?hidden=1",
        "compare": "/r/main/compare",
        "ablation": "/r/main/ablation",
        "episode": base,
        **{f"episode-{lens}": f"{base}?lens={lens}" for lens in lenses},
        "events": f"{base}/events/0",
        "files": f"{base}/files/0",
        **previews,
        "exchanges": f"{base}/exchanges",
        "exchange": f"{base}/exchange/{number}",
        "pair": f"/pair?a=main/{one}&b=main/{two}",
    }


def watched(page: Page) -> list[str]:
    """Errors that the page reports from now on."""
    errors: list[str] = []

    def answered(response: Response) -> None:
        if response.status >= 400:
            errors.append(f"{response.status} {response.url}")

    page.on("console", lambda m: errors.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("response", answered)
    return errors


BASICS = """() => {
  const bad = [];
  for (const img of document.images) {
    if (!img.alt) bad.push("no alt: " + img.src);
    if (img.complete && !img.naturalWidth && img.loading !== "lazy") bad.push("broken: " + img.src);
  }
  for (const one of document.querySelectorAll("input:not([type=hidden]), select"))
    if (!one.labels.length) bad.push("no label: " + one.name);
  for (const one of document.querySelectorAll("a, button"))
    if (!(one.textContent.trim() || one.ariaLabel || one.querySelector("img[alt]")))
      bad.push("no name: " + one.outerHTML.slice(0, 90));
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  const twice = ids.filter((id, at) => ids.indexOf(id) !== at);
  if (twice.length) bad.push("id twice: " + twice.slice(0, 5));
  if (document.querySelectorAll("main").length !== 1) bad.push("one main");
  if (document.querySelectorAll("h1").length !== 1) bad.push("one h1");
  if (document.documentElement.scrollWidth > innerWidth) bad.push("wider than the window");
  if (document.body.dataset.pwned) bad.push("injected script ran");
  return bad;
}"""


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.name)
def test_every_page_is_whole_in_a_browser(
    browser: Browser, address: str, runs: Path, pictures: Path, look: Look
) -> None:
    context = browser.new_context(
        viewport={"width": look.width, "height": 900},
        color_scheme="dark" if look.scheme == "dark" else "light",
        locale="zh-CN" if look.lang == "zh" else "en-GB",
    )
    page = context.new_page()
    errors = watched(page)
    problems: dict[str, list[str]] = {}
    for name, path in addresses(runs).items():
        page.goto(address + path)
        found = [str(problem) for problem in page.evaluate(BASICS)]
        if look.axe:
            found += axe(page)
        if found or errors:
            problems[name] = [*found, *errors]
        errors.clear()
        page.screenshot(path=pictures / f"{name}-{look.name}.png", full_page=look.axe)
    context.close()
    assert not problems, problems


def axe(page: Page) -> list[str]:
    """What axe finds serious."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate(
        """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
        .filter((v) => v.impact === "serious" || v.impact === "critical")
        .map((v) => v.id + ": " + v.nodes.slice(0, 3).map((n) => n.html).join(" | "))"""
    )
    return [str(problem) for problem in found]


@pytest.mark.parametrize("lens", ["executor", "simulator"])
def test_the_browser_receives_no_hidden_text_in_the_lens(
    browser: Browser, address: str, runs: Path, lens: str
) -> None:
    secrets = (*HIDDEN, *tokens(runs))
    page = browser.new_page()
    bodies: list[str] = []
    page.on(
        "response",
        lambda answer: (
            bodies.append(answer.text())
            if "image" not in answer.headers.get("content-type", "")
            else None
        ),
    )
    for episode in episodes(runs):
        page.goto(f"{address}/r/main/e/{episode}?lens={lens}")
        page.keyboard.press("e")
        bodies.append(page.content())
        bodies.append(page.inner_text("body"))
        assert page.locator(".gap").count() >= 1
    page.close()
    assert len(bodies) >= 12
    for body in bodies:
        for secret in secrets:
            assert secret not in body


def test_the_keyboard_leads_through_the_pages(browser: Browser, address: str) -> None:
    page = browser.new_page()
    errors = watched(page)
    page.goto(f"{address}/r/main/episodes")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.locator("tr.current").count() == 1
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    page.wait_for_url("**/r/main/e/*")
    page.keyboard.press("3")
    page.wait_for_url("**lens=simulator")
    page.keyboard.press("2")
    page.wait_for_url("**lens=executor")
    assert page.locator("details[open]").count() < page.locator("details").count()
    page.keyboard.press("e")
    assert page.locator("details:not([open])").count() == 0
    page.keyboard.press("?")
    assert page.locator("dialog.keys[open]").count() == 1
    page.keyboard.press("Escape")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.keyboard.press("t")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    page.goto(f"{address}/r/main/episodes")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.keyboard.press("/")
    page.keyboard.type("count_zh")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=count_zh*")
    assert page.locator("tbody tr").count() == 2
    page.close()
    assert not errors


def test_a_link_to_an_event_unfolds_it(browser: Browser, address: str, runs: Path) -> None:
    page = browser.new_page()
    page.goto(f"{address}/r/main/e/{episodes(runs)[0]}#r0.e1")
    page.wait_for_selector("details[id='r0.e1'][open]")
    assert page.locator("[id='r0.e1'] pre").first.is_visible()
    page.close()


def test_pages_follow_a_run_that_goes_on(browser: Browser, runs: Path, tmp_path: Path) -> None:
    mine = copied(runs, tmp_path)
    for place in serving(mine):
        page = browser.new_page()
        errors = watched(page)
        page.goto(place)
        assert page.inner_text("[data-run=main] [data-field=settled]") == "4"
        with sqlite3.connect(mine / "main" / "run.sqlite") as db:
            db.execute("UPDATE episodes SET state = 'planned', outcome = NULL WHERE rowid = 1")
        db.close()
        end = time.monotonic() + 15
        while page.inner_text("[data-run=main] [data-field=settled]") != "3":
            assert time.monotonic() < end
            page.wait_for_timeout(200)
        page.close()
        assert not errors
