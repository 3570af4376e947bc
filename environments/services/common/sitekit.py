"""What the web sites share: pages, forms, lists by pages, and a search that may have a budget.

Pages are plain HTML: no scripts, nothing from elsewhere, labels and ids on every field.
"""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, ClassVar
from urllib.parse import quote, urlencode

from httpkit import Problem, Reply, Request, json_reply
from servicekit import App

PAGE_SIZE = 20
STYLE = (
    "body{font-family:sans-serif;max-width:60em;margin:1em auto;padding:0 1em;line-height:1.5}"
    "nav a{margin-right:1em}table{border-collapse:collapse;width:100%}"
    "th,td{border-bottom:1px solid #ccc;padding:.3em .5em;text-align:left;vertical-align:top}"
    "form p{margin:.4em 0}label{display:inline-block;min-width:9em}"
    "pre,.text{white-space:pre-wrap;overflow-wrap:anywhere}pre{background:#f4f4f4;padding:.6em}"
    ".notice{background:#fff3cd;padding:.5em}.error{background:#f8d7da;padding:.5em}"
    "article{border-top:1px solid #ccc;padding:.5em 0}"
)
COMMON_LABELS = {
    "search": ("Search", "搜索"),
    "search_for": ("Search for", "关键词"),
    "results": ("{} results", "共 {} 条结果"),
    "nothing": ("Nothing found.", "没有找到。"),
    "previous": ("Previous page", "上一页"),
    "next": ("Next page", "下一页"),
    "page": ("Page {} of {}", "第 {} 页，共 {} 页"),
    "home": ("Home", "首页"),
    "refused": ("This did not work", "操作未成功"),
    "searches_left": ("Searches left: {} of {}", "剩余搜索次数：{} / {}"),
    "search_over": (
        "The search budget is used up: {0} of {0} searches.",
        "搜索次数已用完：{0} / {0} 次。",
    ),
    "signed_in": ("Signed in as {}", "已登录：{}"),
}


def h(value: Any) -> str:
    """Text as HTML."""
    return escape(str(value), quote=True)


def link(path: str, text: Any, **attributes: str) -> str:
    """A link; the path is quoted already."""
    more = "".join(f' {k}="{h(v)}"' for k, v in attributes.items())
    return f'<a href="{h(path)}"{more}>{h(text)}</a>'


def at(*parts: str) -> str:
    """A path of these segments."""
    return "/" + "/".join(quote(part, safe="") for part in parts)


def field(name: str, label: str, value: Any = "", *, kind: str = "text", **more: str) -> str:
    """A labelled input."""
    extra = "".join(f' {k}="{h(v)}"' for k, v in more.items())
    return (
        f'<p><label for="{h(name)}">{h(label)}</label> '
        f'<input type="{kind}" id="{h(name)}" name="{h(name)}" value="{h(value)}"{extra}></p>'
    )


def area(name: str, label: str, value: str = "") -> str:
    """A labelled field for longer text."""
    return (
        f'<p><label for="{h(name)}">{h(label)}</label><br>'
        f'<textarea id="{h(name)}" name="{h(name)}" rows="6" cols="70">{h(value)}</textarea></p>'
    )


def choice(name: str, label: str, options: Iterable[tuple[str, str]], chosen: str = "") -> str:
    """A labelled list to choose from."""
    shown = "".join(
        f'<option value="{h(value)}"{" selected" if value == chosen else ""}>{h(text)}</option>'
        for value, text in options
    )
    return (
        f'<p><label for="{h(name)}">{h(label)}</label> '
        f'<select id="{h(name)}" name="{h(name)}">{shown}</select></p>'
    )


def form(action: str, fields: str, button: str, *, name: str, method: str = "post") -> str:
    """A form with one button."""
    return (
        f'<form id="{h(name)}" method="{method}" action="{h(action)}">{fields}'
        f'<p><button type="submit">{h(button)}</button></p></form>'
    )


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, name: str) -> str:
    """A table; cells are HTML."""
    head = "".join(f'<th scope="col">{h(text)}</th>' for text in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<table id="{h(name)}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def text_block(text: str) -> str:
    """Longer text as it was written."""
    return f'<div class="text">{h(text)}</div>'


class Site(App):
    """A web site with an API beside it."""

    labels: ClassVar[dict[str, tuple[str, str]]]
    site_fields: ClassVar[dict[str, Any]] = {"name": "text", "search_limit": "int"}

    def t(self, key: str, *values: Any) -> str:
        """A label in the site's language."""
        english, chinese = self.labels[key] if key in self.labels else COMMON_LABELS[key]
        return (chinese if self.chinese else english).format(*values)

    @property
    def title(self) -> str:
        """The site's name."""
        return self.seed["name"] or self.t("site")

    def menu(self) -> list[tuple[str, str]]:
        """Path and text of the links on every page."""
        return [("/", self.t("home"))]

    def page(self, title: str, *parts: str, status: int = 200) -> Reply:
        """A whole page."""
        links = "".join(link(path, text) for path, text in self.menu())
        document = (
            f'<!DOCTYPE html><html lang="{self.seed["language"]}"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{h(title)} - {h(self.title)}</title><style>{STYLE}</style></head><body>"
            f"<header><strong>{h(self.title)}</strong><nav>{links}</nav></header>"
            f'<main id="main"><h1>{h(title)}</h1>{"".join(parts)}</main></body></html>\n'
        )
        return Reply(document.encode("utf-8"), status, "text/html; charset=utf-8")

    def refuse(self, request: Request, problem: Problem) -> Reply:
        """A page for people, JSON for programs."""
        if request.wants_html:
            words = f'<p class="error" role="alert">{h(problem.message)}</p>'
            return self.page(self.t("refused"), words, status=problem.status)
        return json_reply({"error": problem.message, **problem.more}, problem.status)

    # Search.

    def search_form(self, query: str = "", more: str = "") -> str:
        """The form, with what is left of the budget."""
        fields = field("q", self.t("search_for"), query, kind="search") + more
        found = form("/search", fields, self.t("search"), name="search-form", method="get")
        return found + self.budget()

    def budget(self) -> str:
        """A line on what is left of the search budget, where there is one."""
        limit = self.seed["search_limit"]
        if limit is None:
            return ""
        left = max(0, limit - self.state["searches"])
        return f'<p id="searches-left">{h(self.t("searches_left", left, limit))}</p>'

    def spend_search(self) -> None:
        """Count one search.

        Raises:
            Problem: the budget is used up; this one is not counted.
        """
        limit = self.seed["search_limit"]
        if limit is not None and self.state["searches"] >= limit:
            raise Problem(429, self.t("search_over", limit), limit=limit)
        self.state["searches"] += 1

    def left(self) -> dict[str, int]:
        """What the API says about the budget."""
        limit = self.seed["search_limit"]
        return {} if limit is None else {"searches_left": limit - self.state["searches"]}

    # Lists.

    def paged(self, request: Request, items: list[Any]) -> tuple[list[Any], str]:
        """The items of the asked page, and links to its neighbours."""
        pages = max(1, -(-len(items) // PAGE_SIZE))
        number = request.number("page", 1, low=1, high=100_000)
        if number > pages:
            raise Problem(404, "there is no such page")
        shown = items[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]
        if pages == 1:
            return shown, ""
        parts: list[str] = []
        for label, other in (("previous", number - 1), ("next", number + 1)):
            if 1 <= other <= pages:
                query = urlencode({**request.query, "page": str(other)})
                rel = "prev" if label == "previous" else "next"
                parts.append(link(f"?{query}", self.t(label), rel=rel))
        words = h(self.t("page", number, pages))
        return shown, f'<nav id="pages">{words} {" ".join(parts)}</nav>'

    def count(self, items: list[Any]) -> str:
        """How many were found."""
        if not items:
            return f'<p id="count">{h(self.t("nothing"))}</p>'
        return f'<p id="count">{h(self.t("results", len(items)))}</p>'
