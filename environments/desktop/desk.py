#!/usr/bin/python3 -I
"""Look at the display and act on it from the command line: windows, accessibility tree, keys.

One command a call; programs that it starts stay. What is named is found in the accessibility tree,
first in the active window, and acted upon as a person would.
"""

import argparse
import os
import subprocess
import sys
import time
import warnings

import gi

warnings.simplefilter("ignore")
gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

POLL_S = 0.05
CALM_LOOKS = 4
MAX_NODES = 4000
MAX_KIDS, MAX_ROWS, MAX_COLUMNS = 500, 100, 60
TEXT_LIMIT = 400
CAN_BE_OFF = ("button", "menu", "check box", "radio", "text", "entry", "combo", "spin", "slider")
PRESSES = ("click", "press", "activate", "toggle", "jump", "open", "select")


class Trouble(Exception):
    """Something that the caller is told in one line."""


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise Trouble(f"{command[0]} {command[1]}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


# --- windows ---------------------------------------------------------------------------------


def windows() -> list[dict]:
    """Windows in the order in which they were opened."""
    try:
        listing = run("wmctrl", "-lpGx")
    except Trouble:
        return []
    active = subprocess.run(
        ["xdotool", "getactivewindow"], capture_output=True, text=True, check=False
    ).stdout.strip()
    found = []
    for line in listing.splitlines():
        parts = line.split(None, 9)
        if len(parts) < 9:
            continue
        number, _, pid, x, y, width, height, kind, _ = parts[:9]
        found.append(
            {
                "id": number,
                "pid": pid,
                "place": f"{width}x{height}+{x}+{y}",
                "class": kind,
                "title": parts[9] if len(parts) > 9 else "",
                "active": active.isdigit() and int(active) == int(number, 16),
            }
        )
    return found


def window(title: str) -> dict:
    match = [w for w in windows() if title.lower() in w["title"].lower()]
    match = match or [w for w in windows() if title.lower() in w["class"].lower()]
    if not match:
        names = ", ".join(repr(w["title"]) for w in windows()) or "none"
        raise Trouble(f"no window has {title!r} in its title; there are {names}")
    return match[-1]


def wait_for(ask: object, what: str, timeout_s: float) -> object:
    deadline = time.monotonic() + timeout_s
    while True:
        found = ask()
        if found:
            return found
        if time.monotonic() > deadline:
            raise Trouble(f"{what} within {timeout_s:g} s")
        time.sleep(POLL_S)


def do_windows(args: argparse.Namespace) -> str:
    return "\n".join(
        f"{'*' if w['active'] else ' '} {w['place']:20} {w['class']:32} {w['title']}"
        for w in windows()
    )


def do_start(args: argparse.Namespace) -> str:
    before = {w["id"] for w in windows()}
    with open(os.devnull, "r+b") as null:
        process = subprocess.Popen(
            args.program, stdin=null, stdout=null, stderr=null, start_new_session=True
        )

    def opened() -> list[dict]:
        if process.poll() not in (None, 0):
            raise Trouble(f"{args.program[0]} ended with {process.returncode}")
        return [w for w in windows() if w["id"] not in before and w["title"]]

    found = wait_for(opened, "it opened no window", args.timeout)
    return f"{found[-1]['title']}"


def do_wait(args: argparse.Namespace) -> str:
    def there() -> list[dict]:
        return [w for w in windows() if args.title.lower() in w["title"].lower()]

    if args.gone:
        wait_for(lambda: not there(), f"the window {args.title!r} did not go away", args.timeout)
        return "gone"
    found = wait_for(there, f"no window {args.title!r} came", args.timeout)
    return found[-1]["title"]


def do_focus(args: argparse.Namespace) -> str:
    found = window(args.title)
    run("wmctrl", "-ia", found["id"])
    wait_for(
        lambda: any(w["active"] and w["id"] == found["id"] for w in windows()),
        "the window did not become active", 3.0,
    )  # fmt: skip
    return found["title"]


def do_close(args: argparse.Namespace) -> str:
    found = window(args.title)
    before = {w["id"] for w in windows()}
    deadline = time.monotonic() + args.timeout
    while time.monotonic() < deadline:
        run("wmctrl", "-ic", found["id"])  # a program that is busy saving does not hear it
        again = time.monotonic() + 1.0
        while time.monotonic() < again:
            now = {w["id"]: w["title"] for w in windows()}
            if found["id"] not in now:
                return f"{found['title']} is closed"
            if set(now) - before:
                return f"it asks: {now[(set(now) - before).pop()]}"
            time.sleep(POLL_S)
    raise Trouble(f"the window {found['title']!r} does not close")


# --- accessibility tree ----------------------------------------------------------------------


def cells(table: object) -> list:
    """The cells of a large table that are on the screen; the others cannot be counted."""
    box = table.get_extents(Atspi.CoordType.SCREEN)
    grid = table.get_table_iface()
    first = table.get_accessible_at_point(box.x + 4, box.y + 4, Atspi.CoordType.SCREEN)
    index = first.get_index_in_parent() if first is not None else 0
    top, left = Atspi.Table.get_row_at_index(grid, index), Atspi.Table.get_column_at_index(grid, index)
    found = []
    for row in range(max(0, top), max(0, top) + MAX_ROWS):
        before = len(found)
        for column in range(max(0, left), max(0, left) + MAX_COLUMNS):
            cell = Atspi.Table.get_accessible_at(grid, row, column)
            if cell is None or not has(cell, Atspi.StateType.SHOWING):
                break
            found.append(cell)
        if len(found) == before:
            break
    return found


def kids(node: object) -> list:
    try:
        if node.get_child_count() > MAX_KIDS and node.get_table_iface() is not None:
            return cells(node)
        count = min(node.get_child_count(), MAX_KIDS)
        return [c for c in (node.get_child_at_index(i) for i in range(count)) if c is not None]
    except GLib.Error:
        return []


def has(node: object, state: object) -> bool:
    try:
        return node.get_state_set().contains(state)
    except GLib.Error:
        return False


def shown(node: object) -> bool:
    return has(node, Atspi.StateType.SHOWING) or node.get_role() == Atspi.Role.APPLICATION


def name_of(node: object) -> str:
    try:
        name = node.get_name() or ""
        if not name:
            for relation in node.get_relation_set() or []:
                if relation.get_relation_type() == Atspi.RelationType.LABELLED_BY:
                    name = relation.get_target(0).get_name() or ""
        return name
    except GLib.Error:
        return ""


def content(node: object) -> str | None:
    try:
        text = node.get_text_iface()
        if text is not None:
            return Atspi.Text.get_text(text, 0, min(text.get_character_count(), 20000))
        value = node.get_value_iface()
        if value is not None:
            return f"{value.get_current_value():g}"
    except GLib.Error:
        return None
    return None


def centre(node: object) -> tuple[int, int] | None:
    try:
        box = node.get_extents(Atspi.CoordType.SCREEN)
    except GLib.Error:
        return None
    if box.width <= 0 or box.height <= 0 or box.x < -10000:
        return None
    return box.x + box.width // 2, box.y + box.height // 2


def frames(within: str | None) -> list:
    """Windows of all programs, the active one first."""
    found = []
    for program in kids(Atspi.get_desktop(0)):
        for frame in kids(program):
            label = f"{program.get_name()} {name_of(frame)}".lower()
            if within is None or within.lower() in label:
                found.append(frame)
    return sorted(found, key=lambda f: not has(f, Atspi.StateType.ACTIVE))


def nodes(within: str | None) -> list:
    found: list = []
    stack = frames(within)[::-1]
    while stack and len(found) < MAX_NODES:
        node = stack.pop()
        if not shown(node):
            continue
        found.append(node)
        stack.extend(kids(node)[::-1])
    return found


def find(args: argparse.Namespace) -> object:
    want = args.name.lower()

    def look() -> object:
        pool = [
            n for n in nodes(args.window) if args.role is None or n.get_role_name() == args.role
        ]
        exact = [n for n in pool if name_of(n).lower() == want]
        found = exact or [n for n in pool if want and want in name_of(n).lower()]
        if not want:
            found = pool
        return found[args.nth - 1 : args.nth]

    return wait_for(look, f"nothing on the display is named {args.name!r}", args.timeout)[0]


def settled(args: argparse.Namespace) -> object:
    """What is meant, once it has stopped moving: a window that has just opened lays itself out."""
    node = find(args)
    at = centre(node)
    if at is not None:
        # LibreOffice corrects its positions by its menu bar's height when the mouse comes.
        run("xdotool", "mousemove", str(at[0]), str(at[1]))
    last: list = []

    def still() -> bool:
        last.append(centre(node))
        return len(last) >= CALM_LOOKS and len(set(last[-CALM_LOOKS:])) == 1

    wait_for(still, f"{args.name!r} keeps moving", max(args.timeout, 5.0))
    return node


def describe(node: object) -> str:
    parts = [node.get_role_name(), repr(name_of(node))]
    value = content(node)
    if value and value != name_of(node):
        cut = value if len(value) <= TEXT_LIMIT else value[:TEXT_LIMIT] + "..."
        parts.append(f"= {cut!r}")
    states = {"focused": "FOCUSED", "checked": "CHECKED", "selected": "SELECTED"}
    parts += [w for w, s in states.items() if has(node, getattr(Atspi.StateType, s))]
    off = not has(node, Atspi.StateType.SENSITIVE)
    if off and any(kind in node.get_role_name() for kind in CAN_BE_OFF):
        parts.append("disabled")
    at = centre(node)
    return " ".join(parts) + (f" @{at[0]},{at[1]}" if at else "")


def do_tree(args: argparse.Namespace) -> str:
    lines: list[str] = []

    def show(node: object, depth: int) -> None:
        if len(lines) >= args.lines or not (args.all or shown(node)):
            return
        plain = node.get_role_name() in ("filler", "panel", "viewport", "section", "separator")
        skip = plain and not name_of(node) and not args.all
        if not skip:
            lines.append("  " * depth + describe(node))
        for child in kids(node):
            show(child, depth + (0 if skip else 1))

    for frame in frames(args.window):
        show(frame, 0)
    if len(lines) >= args.lines:
        lines.append("... (more lines; name a window or raise --lines)")
    return "\n".join(lines) or "(nothing on the display is accessible)"


def do_click(args: argparse.Namespace) -> str:
    node = settled(args)
    said = describe(node)
    at = centre(node)
    plain = not args.double and not args.right
    if plain:
        action = node.get_action_iface()
        count = action.get_n_actions() if action is not None else 0
        for index in range(count):
            if (Atspi.Action.get_action_name(action, index) or "").lower() in PRESSES:
                Atspi.Action.do_action(action, index)
                return said
    if at is None:
        raise Trouble(f"{said} is not on the screen")
    click(at[0], at[1], args)
    return said


def click(x: int, y: int, args: argparse.Namespace) -> None:
    button = "3" if args.right else "1"
    repeat = "2" if args.double else "1"
    run("xdotool", "mousemove", "--sync", str(x), str(y), "click", "--repeat", repeat, button)


def do_point(args: argparse.Namespace) -> str:
    click(args.x, args.y, args)
    return f"{args.x},{args.y}"


def do_set(args: argparse.Namespace) -> str:
    node = find(args)
    editable = node.get_editable_text_iface()
    value = node.get_value_iface()
    if editable is not None:
        Atspi.EditableText.set_text_contents(editable, args.text)
    elif value is not None:
        value.set_current_value(float(args.text))
    else:
        raise Trouble(f"{describe(node)} takes no text")
    return describe(node)


def do_text(args: argparse.Namespace) -> str:
    node = find(args)
    value = content(node)
    return name_of(node) if value is None else value


def do_key(args: argparse.Namespace) -> str:
    run("xdotool", "key", "--clearmodifiers", "--delay", "30", *args.keys)
    return " ".join(args.keys)


def do_type(args: argparse.Namespace) -> str:
    run("xdotool", "type", "--clearmodifiers", "--delay", "15", args.text)
    return f"{len(args.text)} characters"


def do_screenshot(args: argparse.Namespace) -> str:
    options = ["-window", window(args.window)["id"]] if args.window else ["-window", "root"]
    run("import", "-silent", *options, args.file)
    return args.file


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="desk",
        description="Look at the display and act on it. TITLE is a part of a window's title.",
        epilog="xdotool, wmctrl, xprop and scrot are there as well. Exit code 1 says in one line"
        " what went wrong.",
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, run_: object, help_: str, *arguments: tuple) -> None:
        one = commands.add_parser(name, help=help_)
        one.set_defaults(run=run_)
        for names, options in arguments:
            one.add_argument(*names, **options)

    title = (("title",), {"metavar": "TITLE"})
    timeout = (("--timeout",), {"type": float, "default": 30.0, "metavar": "S"})
    within = (("--window",), {"metavar": "TITLE"})
    named = (
        (("name",), {"metavar": "NAME"}),
        (("--role",), {"help": "such as 'push button', 'menu item', 'text'"}),
        (("--nth",), {"type": int, "default": 1}),
        (("--timeout",), {"type": float, "default": 5.0, "metavar": "S"}),
        within,
    )
    mouse = ((("--double",), {"action": "store_true"}), (("--right",), {"action": "store_true"}))
    add("windows", do_windows, "list the windows; * is the active one")
    add("start", do_start, "start a program and wait for its window", timeout,
        (("program",), {"nargs": argparse.REMAINDER, "metavar": "PROGRAM ..."}))  # fmt: skip
    add("wait", do_wait, "wait until a window is there (or gone)", title, timeout,
        (("--gone",), {"action": "store_true"}))  # fmt: skip
    add("focus", do_focus, "make a window the active one", title)
    add("close", do_close, "ask a window to close, and wait for it (or its question)", title, timeout)
    add("tree", do_tree, "what the windows hold, from the accessibility tree",
        (("window",), {"nargs": "?", "metavar": "TITLE"}),
        (("--lines",), {"type": int, "default": 400}),
        (("--all",), {"action": "store_true", "help": "what is hidden, too"}))  # fmt: skip
    add("click", do_click, "click what has this name", *named, *mouse)
    add("set", do_set, "replace the text or value of a field", named[0],
        (("text",), {"metavar": "TEXT"}), *named[1:])  # fmt: skip
    add("text", do_text, "the text of what has this name", *named)
    add("point", do_point, "click at a position",
        (("x",), {"type": int}), (("y",), {"type": int}), *mouse)  # fmt: skip
    add("key", do_key, "press keys such as ctrl+s, Return, Tab",
        (("keys",), {"nargs": "+", "metavar": "KEY"}))  # fmt: skip
    add("type", do_type, "type text where the focus is", (("text",), {"metavar": "TEXT"}))
    add("screenshot", do_screenshot, "save the display, or one window, as a picture",
        (("file",), {"metavar": "FILE"}), within)  # fmt: skip
    return top


def main() -> int:
    args = parser().parse_args()
    try:
        said = args.run(args)
    except (Trouble, GLib.Error, OSError, ValueError) as error:
        print(f"desk: {error}", file=sys.stderr)
        return 1
    if said:
        print(said)
    return 0


if __name__ == "__main__":
    sys.exit(main())
