#!/usr/bin/python3 -I
"""Drive a Chromium in the background from the command line.

The browser starts at the first command and stays. When it was ended, the next command starts it
again, with its cookies and its page. Nothing but Python's standard library is used.
"""

import argparse
import base64
import contextlib
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

PORT = int(os.environ.get("BROWSE_PORT", "9222"))
HOME = Path(os.environ.get("BROWSE_HOME") or Path.home() / ".browse")
WINDOW = os.environ.get("BROWSE_WINDOW", "1280,900")
START_S, LOAD_S = 30.0, 20.0
TEXT_LIMIT = int(os.environ.get("BROWSE_TEXT_LIMIT", "20000"))
FLAGS = (
    "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
    "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-extensions", "--disable-breakpad", "--mute-audio",
    "--password-store=basic", "--hide-scrollbars", "--disable-features=Translate,MediaRouter",
)  # fmt: skip

FIND = """
(what) => {
  const shown = (e) => { const r = e.getBoundingClientRect();
    return r.width > 0 && r.height > 0 && getComputedStyle(e).visibility !== 'hidden'; };
  const said = (e) => (e.innerText || e.value || e.getAttribute('aria-label') || e.title || '')
    .replace(/\\s+/g, ' ').trim();
  if (what.startsWith('text=')) {
    const want = what.slice(5).trim();
    const all = [...document.querySelectorAll(
      'a,button,input[type=submit],input[type=button],label,summary,[role=button],[role=link],'
      + '[onclick],option,td,th,li,p,h1,h2,h3,h4,span,div')].filter(shown);
    return all.find((e) => said(e) === want)
      || all.find((e) => said(e).toLowerCase() === want.toLowerCase())
      || all.filter((e) => said(e).toLowerCase().includes(want.toLowerCase()))
        .sort((a, b) => said(a).length - said(b).length)[0] || null;
  }
  const asLink = /^\\[?(\\d+)\\]?$/.exec(what);
  if (asLink) return [...document.querySelectorAll('a[href]')].filter(shown)[asLink[1] - 1] || null;
  const matching = [...document.querySelectorAll(what)];
  return matching.find(shown) || matching[0] || null;
}
"""
LINKS = """
() => [...document.querySelectorAll('a[href]')].filter((e) => {
    const r = e.getBoundingClientRect(); return r.width > 0 && r.height > 0; })
  .map((e, i) => `[${i + 1}] ${(e.innerText || e.title || '').replace(/\\s+/g, ' ').trim()} -> ${e.href}`)
  .join('\\n')
"""
FIELDS = """
() => [...document.querySelectorAll('input,select,textarea,button')].map((e) => {
    const q = (s) => CSS.escape(s);
    const at = e.id ? '#' + q(e.id) : e.name ? `${e.localName}[name=${JSON.stringify(e.name)}]`
      + (/^(radio|checkbox|submit)$/.test(e.type) && e.getAttribute('value')
        ? `[value=${JSON.stringify(e.getAttribute('value'))}]` : '') : e.localName;
    const label = e.labels && e.labels[0] ? e.labels[0].innerText.trim() : '';
    const parts = [at, e.localName === 'input' ? e.type : e.localName];
    if (label) parts.push('label=' + JSON.stringify(label));
    if (/^(checkbox|radio)$/.test(e.type)) parts.push(e.checked ? 'checked' : 'unchecked');
    else if (e.type !== 'password') parts.push('value=' + JSON.stringify(e.localName === 'button'
      ? e.innerText.trim() : e.value));
    if (e.localName === 'select') parts.push('options=' + JSON.stringify(
      [...e.options].map((o) => o.value === o.text ? o.text : `${o.value}: ${o.text}`)));
    if (e.form) parts.push(`form=${e.form.method} ${e.form.action}`);
    return e.type === 'hidden' ? null : parts.join('  ');
  }).filter(Boolean).join('\\n')
"""
SET_VALUE = """
(e, value) => {
  if (e.localName === 'select') {
    const o = [...e.options].find((o) => o.value === value) || [...e.options].find(
      (o) => o.text.trim().toLowerCase() === value.trim().toLowerCase());
    if (!o) return 'no such option: ' + value;
    e.value = o.value;
  } else {
    const proto = e.localName === 'textarea' ? HTMLTextAreaElement : HTMLInputElement;
    const set = Object.getOwnPropertyDescriptor(proto.prototype, 'value');
    if (e.isContentEditable) e.textContent = value; else set.set.call(e, value);
  }
  e.dispatchEvent(new Event('input', {bubbles: true}));
  e.dispatchEvent(new Event('change', {bubbles: true}));
  return '';
}
"""
KEYS = {
    "Enter": (13, "\r"), "Tab": (9, ""), "Escape": (27, ""), "Backspace": (8, ""),
    "Delete": (46, ""), "ArrowUp": (38, ""), "ArrowDown": (40, ""), "ArrowLeft": (37, ""),
    "ArrowRight": (39, ""), "PageUp": (33, ""), "PageDown": (34, ""), "Home": (36, ""),
    "End": (35, ""), "Space": (32, " "),
}  # fmt: skip


class Trouble(Exception):
    """Something that the caller is told in one line."""


class WebSocket:
    """A client of RFC 6455, as much as DevTools needs."""

    def __init__(self, url: str) -> None:
        host, _, path = url.removeprefix("ws://").partition("/")
        name, _, port = host.partition(":")
        self._socket = socket.create_connection((name, int(port)), timeout=10)
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall(
            f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        self._buffer = b""
        while b"\r\n\r\n" not in self._buffer:
            self._fill(time.monotonic() + 10)
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise Trouble("the browser refused a DevTools connection")
        self._parts = b""

    def _fill(self, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._socket.settimeout(left)
        data = self._socket.recv(1 << 16)
        if not data:
            raise ConnectionError("the browser closed the connection")
        self._buffer += data

    def send(self, text: str, opcode: int = 1) -> None:
        data = text.encode()
        size = len(data)
        head = bytes([0x80 | opcode])
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 1 << 16:
            head += bytes([0x80 | 126]) + struct.pack(">H", size)
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", size)
        # An all-zero mask is a mask; the peer is on this machine.
        self._socket.settimeout(10)
        self._socket.sendall(head + b"\0\0\0\0" + data)

    def receive(self, deadline: float) -> str:
        while True:
            frame = self._frame(deadline)
            if frame is not None:
                return frame

    def _frame(self, deadline: float) -> str | None:
        need = 2
        while True:
            if len(self._buffer) >= 2:
                size, start = self._buffer[1] & 0x7F, 2
                if size == 126:
                    start = 4
                    size = struct.unpack(">H", self._buffer[2:4])[0] if len(self._buffer) >= 4 else 0
                elif size == 127:
                    start = 10
                    size = struct.unpack(">Q", self._buffer[2:10])[0] if len(self._buffer) >= 10 else 0
                need = start + size
                if len(self._buffer) >= max(need, start):
                    break
            self._fill(deadline)
        first, body = self._buffer[0], self._buffer[start:need]
        self._buffer = self._buffer[need:]
        opcode = first & 0x0F
        if opcode == 8:
            raise ConnectionError("the browser closed the page")
        if opcode > 8:
            return None
        self._parts += body
        if not first & 0x80:
            return None
        text, self._parts = self._parts.decode("utf-8", "replace"), b""
        return text

    def close(self) -> None:
        self._socket.close()


class Page:
    """One DevTools session with a page."""

    def __init__(self, url: str) -> None:
        self._ws = WebSocket(url)
        self._next = 0
        self.status: int | None = None
        self.loading = False
        self.downloads: dict[str, str] = {}
        self.notes: list[str] = []

    def prepare(self) -> None:
        self.call("Page.enable")
        self.call("Network.enable")
        downloads = os.environ.get("BROWSE_DOWNLOADS") or str(Path.cwd())
        with contextlib.suppress(Trouble):
            self.call(
                "Browser.setDownloadBehavior",
                behavior="allow", downloadPath=downloads, eventsEnabled=True,
            )  # fmt: skip

    def call(self, method: str, *, timeout_s: float = 30.0, **params: object) -> dict:
        self._next += 1
        mine = self._next
        self._ws.send(json.dumps({"id": mine, "method": method, "params": params}))
        deadline = time.monotonic() + timeout_s
        while True:
            message = json.loads(self._ws.receive(deadline))
            if message.get("id") == mine:
                if "error" in message:
                    raise Trouble(f"{method}: {message['error'].get('message')}")
                return message.get("result", {})
            self._event(message)

    def _event(self, message: dict) -> None:
        method, params = message.get("method"), message.get("params", {})
        if method == "Page.javascriptDialogOpening":
            self.notes.append(f"dialog accepted: {params.get('message')}")
            self._next += 1
            accept = {"accept": True, "promptText": params.get("defaultPrompt", "")}
            self._ws.send(
                json.dumps(
                    {"id": self._next, "method": "Page.handleJavaScriptDialog", "params": accept}
                )
            )
        elif method in ("Page.frameStartedLoading", "Page.frameRequestedNavigation"):
            self.loading = True
        elif method == "Page.loadEventFired":
            self.loading = False
        elif method == "Page.frameStoppedLoading":
            self.loading = False
        elif method == "Network.responseReceived" and params.get("type") == "Document":
            self.status = params["response"].get("status")
        elif method == "Browser.downloadWillBegin":
            self.downloads[params["guid"]] = params.get("suggestedFilename", "")
        elif method == "Browser.downloadProgress" and params.get("state") != "inProgress":
            name = self.downloads.pop(params["guid"], "")
            self.notes.append(f"download {params['state']}: {name}")
            self.loading = False

    def settle(self, *, begin_s: float = 0.25, load_s: float = LOAD_S) -> None:
        """Let a navigation that an action may have caused begin, and wait for its end."""
        began = time.monotonic()
        while True:
            now = time.monotonic()
            busy = self.loading or bool(self.downloads)
            limit = began + (load_s if busy else begin_s)
            if now >= limit:
                break
            try:
                self._event(json.loads(self._ws.receive(limit)))
            except TimeoutError:
                break
        if self.loading:
            self.notes.append("the page was still loading")

    def evaluate(self, expression: str, *, wait: bool = True) -> object:
        answer = self.call(
            "Runtime.evaluate",
            expression=expression, returnByValue=True, awaitPromise=wait, userGesture=True,
        )  # fmt: skip
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            said = details.get("exception", {}).get("description") or details.get("text")
            raise Trouble(f"script: {said}")
        return answer.get("result", {}).get("value")

    def on(self, selector: str, body: str, *arguments: object) -> object:
        """Apply a function of an element (and arguments) to what a selector finds."""
        rest = "".join(f", {json.dumps(a)}" for a in arguments)
        missing = "__browse_missing__"
        value = self.evaluate(
            f"(() => {{ const e = ({FIND})({json.dumps(selector)});"
            f" return e ? ({body})(e{rest}) : {json.dumps(missing)}; }})()"
        )
        if value == missing:
            raise Trouble(f"nothing on the page matches {selector!r}")
        return value

    def close(self) -> None:
        self._ws.close()


# --- the browser in the background -----------------------------------------------------------


def ask(path: str, method: str = "GET", timeout_s: float = 5.0) -> object:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}{path}", method=method)
    with opener.open(request, timeout=timeout_s) as answer:
        data = answer.read()
    try:
        return json.loads(data)
    except ValueError:
        return None


def is_up() -> bool:
    try:
        return isinstance(ask("/json/version"), dict)
    except (OSError, ValueError):
        return False


def start() -> bool:
    """Start the browser unless it runs; True when it was started."""
    if is_up():
        return False
    profile = HOME / "profile"
    profile.mkdir(parents=True, exist_ok=True)
    for name in ("SingletonLock", "SingletonSocket", "SingletonCookie"):
        (profile / name).unlink(missing_ok=True)
    shown = os.environ.get("DISPLAY") and os.environ.get("BROWSE_HEADLESS") != "1"
    mode = () if shown else ("--headless=new",)
    command = [
        "chromium", *mode, *FLAGS, f"--remote-debugging-port={PORT}",
        f"--user-data-dir={profile}", f"--window-size={WINDOW}", "about:blank",
    ]  # fmt: skip
    with (HOME / "chromium.log").open("wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True, cwd=HOME,
        )  # fmt: skip
    deadline = time.monotonic() + START_S
    while not is_up():
        if process.poll() is not None:
            tail = (HOME / "chromium.log").read_text("utf-8", "replace")[-400:]
            raise Trouble(f"chromium ended with {process.returncode}: {tail}")
        if time.monotonic() > deadline:
            raise Trouble("chromium does not answer")
        time.sleep(0.03)
    (HOME / "pid").write_text(str(process.pid))
    return True


def targets() -> list[dict]:
    found = ask("/json/list")
    pages = [t for t in found if t.get("type") == "page" and "webSocketDebuggerUrl" in t]
    return pages[::-1]  # the browser names the newest first


def load_state() -> dict:
    try:
        state = json.loads((HOME / "state.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def save_state(state: dict) -> None:
    temporary = HOME / "state.json.new"
    temporary.write_text(json.dumps(state), encoding="utf-8")
    temporary.replace(HOME / "state.json")


def current(state: dict) -> Page:
    pages = targets()
    if not pages:
        ask("/json/new?about:blank", "PUT")
        pages = targets()
    chosen = next((t for t in pages if t["id"] == state.get("tab")), pages[0])
    state["tab"] = chosen["id"]
    page = Page(chosen["webSocketDebuggerUrl"])
    page.prepare()
    return page


def resume(page: Page, state: dict) -> None:
    """Bring back the cookies and the page of a browser that was ended."""
    cookies = state.get("cookies") or []
    if cookies:
        with contextlib.suppress(Trouble):
            page.call("Network.setCookies", cookies=cookies)
    url = str(state.get("url") or "")
    if url.startswith(("http:", "https:", "file:")):
        navigate(page, url)
        page.notes.append("the browser had been ended and was started again on its last page")


def remember(page: Page, state: dict, before: list[str]) -> None:
    with contextlib.suppress(Trouble, TimeoutError, ConnectionError):
        state["url"] = page.evaluate("location.href")
        state["cookies"] = page.call("Network.getCookies").get("cookies", [])
    opened = [t["id"] for t in targets() if t["id"] not in before]
    if before and opened:
        state["tab"] = opened[-1]
        page.notes.append("a new tab was opened and is the current one now")
    save_state(state)


def navigate(page: Page, url: str) -> None:
    page.loading = True
    answer = page.call("Page.navigate", url=url, timeout_s=LOAD_S)
    if answer.get("isDownload") or "ERR_ABORTED" in str(answer.get("errorText")):
        page.loading = False
    elif answer.get("errorText"):
        page.loading = False
        raise Trouble(f"{url}: {answer['errorText']}")
    elif "loaderId" not in answer:  # a place on the same page
        page.loading = False
    page.settle()


# --- commands --------------------------------------------------------------------------------


def where(page: Page) -> str:
    url = page.evaluate("location.href")
    title = page.evaluate("document.title")
    status = f" ({page.status})" if page.status else ""
    return f"{url}{status}\n{title}".rstrip()


def text_of(page: Page, selector: str | None) -> str:
    if selector:
        return str(page.on(selector, "(e) => e.innerText ?? e.textContent"))
    return str(page.evaluate("document.body ? document.body.innerText : ''"))


def limited(text: str) -> str:
    if len(text) <= TEXT_LIMIT:
        return text
    return f"{text[:TEXT_LIMIT]}\n[{len(text) - TEXT_LIMIT} more characters; name a selector]"


def do_open(page: Page, args: argparse.Namespace) -> str:
    url = args.url
    if "://" not in url and not url.startswith(("about:", "data:")):
        local = Path(url)
        url = local.resolve().as_uri() if local.exists() else f"http://{url}"
    navigate(page, url)
    return where(page)


def do_text(page: Page, args: argparse.Namespace) -> str:
    return limited(text_of(page, args.selector))


def do_html(page: Page, args: argparse.Namespace) -> str:
    if args.selector:
        return limited(str(page.on(args.selector, "(e) => e.outerHTML")))
    return limited(str(page.evaluate("document.documentElement.outerHTML")))


def do_links(page: Page, args: argparse.Namespace) -> str:
    return limited(str(page.evaluate(f"({LINKS})()")))


def do_fields(page: Page, args: argparse.Namespace) -> str:
    return limited(str(page.evaluate(f"({FIELDS})()")))


def do_where(page: Page, args: argparse.Namespace) -> str:
    return where(page)


def do_click(page: Page, args: argparse.Namespace) -> str:
    box = page.on(
        args.selector,
        "(e) => { e.scrollIntoView({block: 'center', inline: 'center'});"
        " const r = e.getClientRects()[0] || e.getBoundingClientRect();"
        " const x = r.left + r.width / 2, y = r.top + r.height / 2;"
        " const top = document.elementFromPoint(x, y);"
        " return {x, y, hit: !!top && (e.contains(top) || top.contains(e)),"
        " option: e.localName === 'option'}; }",
    )
    if isinstance(box, dict) and box["hit"] and not box["option"]:
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
            page.call("Input.dispatchMouseEvent", type=kind, x=box["x"], y=box["y"], **button)
    else:  # covered, off the page or without a size: the event itself
        page.on(
            args.selector,
            "(e) => { if (e.localName === 'option') { e.selected = true;"
            " e.parentElement.dispatchEvent(new Event('change', {bubbles: true})); }"
            " else e.click(); }",
        )
    page.settle()
    return where(page)


def do_type(page: Page, args: argparse.Namespace) -> str:
    focus = (
        "(e) => { e.scrollIntoView({block: 'center'}); e.focus();"
        " if (e.select) e.select(); return e.localName + ':' + (e.type || ''); }"
    )
    kind = str(page.on(args.selector, focus))
    special = ("date", "time", "month", "week", "datetime-local", "color", "range")
    if kind == "select:select-one" or kind.partition(":")[2] in special:
        problem = page.on(args.selector, SET_VALUE, args.text)
        if problem:
            raise Trouble(str(problem))
    else:
        if not args.append:
            page.on(args.selector, SET_VALUE, "")
        page.call("Input.insertText", text=args.text)
        page.on(
            args.selector,
            "(e) => e.dispatchEvent(new Event('change', {bubbles: true}))",
        )
    if args.enter:
        press(page, "Enter")
    page.settle()
    return where(page) if args.enter else f"typed into {args.selector}"


def do_select(page: Page, args: argparse.Namespace) -> str:
    problem = page.on(args.selector, SET_VALUE, args.value)
    if problem:
        raise Trouble(str(problem))
    page.settle()
    return f"{args.selector} = {page.on(args.selector, '(e) => e.value')}"


def do_check(page: Page, args: argparse.Namespace) -> str:
    state = page.on(
        args.selector,
        "(e, want) => { if (e.checked !== want) e.click(); return e.checked; }",
        not args.off,
    )
    page.settle()
    return f"{args.selector} is {'checked' if state else 'unchecked'}"


def press(page: Page, key: str) -> None:
    code, text = KEYS.get(key, (ord(key[0].upper()), key if len(key) == 1 else ""))
    shared = {"key": " " if key == "Space" else key, "windowsVirtualKeyCode": code}
    down = {"text": text} if text else {}
    page.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **shared, **down)
    page.call("Input.dispatchKeyEvent", type="keyUp", **shared)


def do_press(page: Page, args: argparse.Namespace) -> str:
    if args.selector:
        page.on(args.selector, "(e) => e.focus()")
    press(page, args.key)
    page.settle()
    return where(page)


def do_submit(page: Page, args: argparse.Namespace) -> str:
    page.on(
        args.selector or "form",
        "(e) => { const f = e.localName === 'form' ? e : e.form || e.closest('form');"
        " if (!f) throw new Error('no form there'); f.requestSubmit(); }",
    )
    page.settle()
    return where(page)


def do_history(page: Page, args: argparse.Namespace) -> str:
    history = page.call("Page.getNavigationHistory")
    index = history["currentIndex"] + (-1 if args.command == "back" else 1)
    if not 0 <= index < len(history["entries"]):
        raise Trouble(f"there is no page to go {args.command} to")
    page.loading = True
    page.call("Page.navigateToHistoryEntry", entryId=history["entries"][index]["id"])
    page.settle()
    page.notes = [n for n in page.notes if n != "the page was still loading"]
    return where(page)


def do_reload(page: Page, args: argparse.Namespace) -> str:
    page.loading = True
    page.call("Page.reload")
    page.settle()
    return where(page)


def do_screenshot(page: Page, args: argparse.Namespace) -> str:
    options: dict[str, object] = {"format": "png"}
    if args.selector:
        box = page.on(
            args.selector,
            "(e) => { const r = e.getBoundingClientRect(); return {x: r.left + scrollX,"
            " y: r.top + scrollY, width: r.width, height: r.height, scale: 1}; }",
        )
        options |= {"clip": box, "captureBeyondViewport": True}
    elif args.full:
        size = page.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 16000)}
        options |= {"clip": {**clip, "scale": 1}, "captureBeyondViewport": True}
    data = base64.b64decode(page.call("Page.captureScreenshot", **options)["data"])
    target = Path(args.file)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    return f"{target} ({len(data)} bytes)"


def do_pdf(page: Page, args: argparse.Namespace) -> str:
    data = base64.b64decode(page.call("Page.printToPDF", printBackground=True)["data"])
    target = Path(args.file)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    return f"{target} ({len(data)} bytes)"


def do_eval(page: Page, args: argparse.Namespace) -> str:
    value = page.evaluate(args.script)
    page.settle()
    return limited(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def do_wait(page: Page, args: argparse.Namespace) -> str:
    deadline = time.monotonic() + args.timeout
    while True:
        with contextlib.suppress(Trouble):
            page.on(args.selector, "(e) => true")
            return where(page)
        if time.monotonic() > deadline:
            raise Trouble(f"{args.selector!r} did not come within {args.timeout:g} s")
        page.settle(begin_s=0.1)


def do_upload(page: Page, args: argparse.Namespace) -> str:
    files = [str(Path(f).resolve(strict=True)) for f in args.files]
    root = page.call("DOM.getDocument")["root"]["nodeId"]
    node = page.call("DOM.querySelector", nodeId=root, selector=args.selector)["nodeId"]
    if not node:
        raise Trouble(f"nothing on the page matches {args.selector!r}")
    page.call("DOM.setFileInputFiles", files=files, nodeId=node)
    return f"{args.selector}: {len(files)} file(s)"


def do_tabs(page: Page, args: argparse.Namespace) -> str:
    state = load_state()
    pages = targets()
    if args.number is not None:
        if not 1 <= args.number <= len(pages):
            raise Trouble(f"there are {len(pages)} tabs")
        args.chosen = pages[args.number - 1]["id"]
        state["tab"] = args.chosen
    return "\n".join(
        f"{'*' if t['id'] == state.get('tab') else ' '} {i} {t['url']}  {t.get('title', '')}"
        for i, t in enumerate(pages, start=1)
    )


def record(args: argparse.Namespace) -> None:
    """Take pictures of the current page until a signal; they become one film."""
    stop: list[bool] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.append(True))
    out = Path(args.file)
    frames = out.with_suffix(".frames")
    frames.mkdir(parents=True, exist_ok=True)
    began, total, last = time.monotonic(), 0, b""
    shots: list[tuple[float, Path]] = []
    over = False
    while not over:
        over = bool(stop)  # once more after the signal: how the turn left the page
        due = time.monotonic() + 1 / args.fps
        data = shoot()
        if data and data != last and total + len(data) < args.max_bytes * 8:
            path = frames / f"{len(shots):06d}.jpg"
            path.write_bytes(data)
            shots.append((time.monotonic() - began, path))
            total, last = total + len(data), data
        while not stop and time.monotonic() < due:
            time.sleep(min(0.1, max(0.0, due - time.monotonic())))
    if shots:
        encode(shots, time.monotonic() - began, args, out, frames)


def shoot() -> bytes:
    """A picture of the front page; nothing when there is no browser or it is busy."""
    try:
        pages = targets()
        if not pages:
            return b""
        page = Page(pages[0]["webSocketDebuggerUrl"])
        try:
            answer = page.call("Page.captureScreenshot", timeout_s=3, format="jpeg", quality=60)
            return base64.b64decode(answer["data"])
        finally:
            page.close()
    except (OSError, ValueError, KeyError, TypeError, Trouble):
        return b""


def encode(
    shots: list[tuple[float, Path]], end: float, args: argparse.Namespace, out: Path, frames: Path
) -> None:
    lines: list[str] = []
    for (at, path), (then, _) in zip(shots, [*shots[1:], (end, out)], strict=True):
        lines += [f"file '{path.name}'", f"duration {max(0.05, then - at):.3f}"]
    lines.append(f"file '{shots[-1][1].name}'")
    (frames / "list").write_text("\n".join(lines), encoding="utf-8")
    subprocess.run(
        [
            "ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-f", "concat", "-i", frames / "list",
            "-vf", "scale=trunc(iw/2)*2:trunc(ih/2)*2,format=yuv420p", "-r", str(max(1, args.fps)),
            "-c:v", "libx264", "-preset", "ultrafast", "-crf", "32", "-movflags", "+faststart",
            "-fs", str(args.max_bytes), out,
        ],
        check=True, timeout=60,
    )  # fmt: skip


def do_close() -> None:
    with contextlib.suppress(OSError, ValueError, Trouble):
        info = ask("/json/version")
        page = Page(info["webSocketDebuggerUrl"])
        with contextlib.suppress(ConnectionError, TimeoutError):
            page.call("Browser.close", timeout_s=5)
    deadline = time.monotonic() + 5
    while is_up() and time.monotonic() < deadline:
        time.sleep(0.03)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="browse",
        description="Drive a Chromium in the background: one command a call, the page stays.",
        epilog="SELECTOR is CSS, or text=WORDS for what shows these words, or the number of a link"
        " as `browse links` counts them. Exit code 1 says in one line what went wrong.",
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, run: object, help_: str, *arguments: tuple) -> None:
        one = commands.add_parser(name, help=help_)
        one.set_defaults(run=run)
        for names, options in arguments:
            one.add_argument(*names, **options)

    selector = (("selector",), {"metavar": "SELECTOR"})
    maybe = (("selector",), {"metavar": "SELECTOR", "nargs": "?"})
    add("open", do_open, "go to a URL or a local file", (("url",), {"metavar": "URL"}))
    add("text", do_text, "the page's visible text, or that of an element", maybe)
    add("html", do_html, "the page's HTML, or that of an element", maybe)
    add("links", do_links, "numbered links")
    add("fields", do_fields, "form fields with their selectors and values")
    add("where", do_where, "address, status and title")
    add("click", do_click, "click an element", selector)
    add(
        "type", do_type, "replace the text of a field", selector,
        (("text",), {"metavar": "TEXT"}),
        (("--append",), {"action": "store_true", "help": "add to what is there"}),
        (("--enter",), {"action": "store_true", "help": "press Enter afterwards"}),
    )  # fmt: skip
    add("select", do_select, "choose an option by value or text", selector,
        (("value",), {"metavar": "VALUE"}))  # fmt: skip
    add("check", do_check, "tick a box or radio button", selector,
        (("--off",), {"action": "store_true", "help": "untick it"}))  # fmt: skip
    add("press", do_press, "press a key such as Enter, Tab or ArrowDown",
        (("key",), {"metavar": "KEY"}), maybe)  # fmt: skip
    add("submit", do_submit, "submit the form (of an element)", maybe)
    add("upload", do_upload, "choose files for a file field", selector,
        (("files",), {"nargs": "+", "metavar": "FILE"}))  # fmt: skip
    add("back", do_history, "one page back")
    add("forward", do_history, "one page forward")
    add("reload", do_reload, "load the page again")
    add("wait", do_wait, "wait until an element is there", selector,
        (("--timeout",), {"type": float, "default": 10.0, "metavar": "S"}))  # fmt: skip
    add("screenshot", do_screenshot, "save a PNG of the window",
        (("file",), {"metavar": "FILE"}),
        (("--full",), {"action": "store_true", "help": "the whole page"}),
        (("--selector",), {"metavar": "SELECTOR"}))  # fmt: skip
    add("pdf", do_pdf, "print the page to a PDF", (("file",), {"metavar": "FILE"}))
    add("eval", do_eval, "evaluate JavaScript", (("script",), {"metavar": "SCRIPT"}))
    add("tabs", do_tabs, "list the tabs, or change to one",
        (("number",), {"nargs": "?", "type": int, "metavar": "N"}))  # fmt: skip
    add("close", None, "end the browser; cookies and page are kept")
    add("reset", None, "end the browser and forget everything")
    one = commands.add_parser("record")
    one.add_argument("file")
    one.add_argument("--fps", type=float, default=1.0)
    one.add_argument("--max-bytes", type=int, default=20_000_000)
    return top


def play(args: argparse.Namespace) -> str:
    """Carry out one command in the browser; one at a time."""
    started = start()
    state = load_state()
    page = current(state)
    try:
        if started and args.command != "open":
            resume(page, state)
        elif started and state.get("cookies"):
            with contextlib.suppress(Trouble):
                page.call("Network.setCookies", cookies=state["cookies"])
        before = [t["id"] for t in targets()]
        try:
            said = args.run(page, args)
        finally:
            chosen = getattr(args, "chosen", None)
            state |= {"tab": chosen} if chosen else {}
            remember(page, state, before)
            for note in page.notes:
                print(f"browse: {note}", file=sys.stderr)
        return said
    finally:
        page.close()


def main() -> int:
    args = parser().parse_args()
    if args.command == "record":
        record(args)
        return 0
    HOME.mkdir(parents=True, exist_ok=True)
    with (HOME / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            if args.command in ("close", "reset"):
                do_close()
                if args.command == "reset":
                    subprocess.run(["rm", "-rf", HOME / "profile", HOME / "state.json"], check=True)
                return 0
            print(play(args))
        except (Trouble, TimeoutError, ConnectionError, OSError) as error:
            print(f"browse: {error or type(error).__name__}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
