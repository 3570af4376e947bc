"""A documentation site: pages in several versions, some of them outdated, with a search."""

import re
from typing import Any

from httpkit import Problem, Reply, Request, json_reply, see, text_reply
from seeding import SeedError
from servicekit import Route, known, main, words_of
from sitekit import Site, area, at, choice, form, h, link

VERSION = {
    "id": "text!",
    "label": "text",
    "status": ("current", "outdated", "beta"),
    "banner": "flag",
}
PAGE = {
    "slug": "text!",
    "version": "text!",
    "title": "text",
    "section": "text",
    "updated": "text",
    "text": "text",
}
_NAME = re.compile(r"[\w][\w.-]{0,99}")
_LINK = re.compile(r"\[([^\]\n]{1,200})\]\(([^)\s]{1,300})\)")
_CODE = re.compile(r"`([^`\n]{1,300})`")
_BOLD = re.compile(r"\*\*([^*\n]{1,300})\*\*")


class Docs(Site):
    """The documentation of one product."""

    name = "docs"
    port = 8034
    schema = {**Site.site_fields, "versions": [VERSION], "pages": [PAGE]}
    verbs = {
        "page": PAGE,
        "version": VERSION,
        "remove_page": {"slug": "text!", "version": "text!"},
    }
    labels = {
        "site": ("Documentation", "文档中心"),
        "versions": ("Versions", "版本"),
        "version": ("Version", "版本"),
        "any": ("all versions", "全部版本"),
        "current": ("current", "当前版本"),
        "outdated": ("outdated", "已过期"),
        "beta": ("beta", "测试版"),
        "banner": (
            "This page describes version {}, which is {}.",
            "本页介绍的是 {} 版本（{}）。",
        ),
        "updated": ("Last updated: {}", "最后更新：{}"),
        "others": ("This page in other versions:", "其他版本的此页："),
        "source": ("Source", "源文本"),
        "feedback": ("Was this page helpful?", "此页是否有帮助？"),
        "yes": ("yes", "有"),
        "no": ("no", "没有"),
        "comment": ("Comment", "评论"),
        "send": ("Send", "提交"),
        "thanks": ("Thank you.", "感谢反馈。"),
    }

    def make_routes(self) -> list[Route]:
        """All routes."""
        return [
            ("GET", "/", "home", self.home),
            ("GET", "/search", "search", self.search),
            ("GET", "/v/{version}", "version", self.version),
            ("GET", "/v/{version}/{slug}", "page", self.show),
            ("GET", "/raw/{version}/{slug}", "raw", self.raw),
            ("POST", "/v/{version}/{slug}/feedback", "feedback", self.feedback),
            ("GET", "/api/versions", "home", self.api_versions),
            ("GET", "/api/pages", "version", self.api_pages),
            ("GET", "/api/pages/{version}/{slug}", "page", self.api_page),
            ("GET", "/api/search", "search", self.api_search),
        ]

    def populate(self) -> None:
        """Versions and pages of the seed."""
        self.state |= {"versions": {}, "pages": {}, "feedback": [], "read": [], "searches": 0}
        versions = self.seed["versions"] or [{"id": "1.0", "label": "", "status": "current"}]
        for version in versions:
            self.do_version(version)
        for index, page in enumerate(self.seed["pages"]):
            try:
                self.do_page(page)
            except Problem as error:
                raise SeedError(f"seed.json.pages[{index}]", error.message) from error

    @property
    def pages(self) -> dict[str, dict[str, Any]]:
        """All pages by `VERSION/SLUG`."""
        return self.state["pages"]

    def do_version(self, fields: dict[str, Any]) -> dict[str, Any]:
        """A version is there, or is otherwise than before."""
        identity = fields["id"]
        if not _NAME.fullmatch(identity):
            raise Problem(400, "id: expected letters, digits, dots and dashes")
        base = {"id": identity, "label": "", "status": "current", "banner": False}
        self.state["versions"][identity] = {
            **self.state["versions"].get(identity, base),
            **{k: v for k, v in fields.items() if v is not None},
        }
        return {"id": identity}

    def do_page(self, fields: dict[str, Any]) -> dict[str, Any]:
        """A page is there, or is otherwise than before."""
        known(self.state["versions"], fields["version"], "version")
        if not _NAME.fullmatch(fields["slug"]):
            raise Problem(400, "slug: expected letters, digits, dots and dashes")
        key = f"{fields['version']}/{fields['slug']}"
        base = {"title": fields["slug"], "section": "", "updated": "", "text": ""}
        given = {k: v for k, v in fields.items() if v}
        self.pages[key] = {**self.pages.get(key, base), **given}
        return {"version": fields["version"], "slug": fields["slug"]}

    def do_remove_page(self, fields: dict[str, Any]) -> dict[str, Any]:
        """A page is gone."""
        key = f"{fields['version']}/{fields['slug']}"
        known(self.pages, key, "page")
        del self.pages[key]
        return fields

    # Pages.

    def _label(self, version: dict[str, Any]) -> str:
        return version["label"] or f"{version['id']} ({self.t(version['status'])})"

    def _of(self, version: str) -> list[dict[str, Any]]:
        return [p for p in self.pages.values() if p["version"] == version]

    def _index(self, version: str) -> str:
        sections: dict[str, list[str]] = {}
        for page in self._of(version):
            item = f"<li>{link(at('v', version, page['slug']), page['title'])}</li>"
            sections.setdefault(page["section"], []).append(item)
        return "".join(
            (f"<h2>{h(name)}</h2>" if name else "") + f"<ul>{''.join(items)}</ul>"
            for name, items in sections.items()
        )

    def home(self, request: Request) -> Reply:
        """Search, versions, and the pages of the first current one."""
        versions = list(self.state["versions"].values())
        items = "".join(f"<li>{link(at('v', v['id']), self._label(v))}</li>" for v in versions)
        current = [v for v in versions if v["status"] == "current"] or versions
        listed = f'<h2>{h(self.t("versions"))}</h2><ul id="versions">{items}</ul>'
        return self.page(self.title, self._form(), listed, self._index(current[0]["id"]))

    def _form(self, query: str = "", version: str = "") -> str:
        options = [("", self.t("any"))]
        options += [(v["id"], self._label(v)) for v in self.state["versions"].values()]
        return self.search_form(query, choice("version", self.t("version"), options, version))

    def version(self, request: Request, version: str) -> Reply:
        """The pages of a version."""
        request.note = {"version": version}
        found = known(self.state["versions"], version, "version")
        return self.page(self._label(found), self._form("", version), self._index(version))

    def _page(self, request: Request, version: str, slug: str) -> dict[str, Any]:
        request.note = {"version": version, "slug": slug}
        key = f"{version}/{slug}"
        page = known(self.pages, key, "page")
        if key not in self.state["read"]:
            self.state["read"].append(key)
        return page

    def show(self, request: Request, version: str, slug: str) -> Reply:
        """One page."""
        page, kind = self._page(request, version, slug), self.state["versions"][version]
        parts: list[str] = []
        if kind["banner"]:
            words = self.t("banner", version, self.t(kind["status"]))
            parts.append(f'<p class="notice" role="note">{h(words)}</p>')
        if request.query.get("thanks"):
            parts.append(f'<p class="notice" role="status">{h(self.t("thanks"))}</p>')
        parts.append(f'<article id="content">{render(page["text"], version)}</article>')
        if page["updated"]:
            parts.append(f'<p id="updated">{h(self.t("updated", page["updated"]))}</p>')
        others = [p for p in self.pages.values() if p["slug"] == slug and p["version"] != version]
        if others:
            items = " ".join(link(at("v", p["version"], slug), p["version"]) for p in others)
            parts.append(f'<p id="other-versions">{h(self.t("others"))} {items}</p>')
        parts.append(f"<p>{link(at('raw', version, slug), self.t('source'))}</p>")
        options = [("yes", self.t("yes")), ("no", self.t("no"))]
        fields = choice("helpful", self.t("feedback"), options) + area("comment", self.t("comment"))
        target = at("v", version, slug, "feedback")
        parts.append(form(target, fields, self.t("send"), name="feedback-form"))
        return self.page(page["title"], *parts)

    def raw(self, request: Request, version: str, slug: str) -> Reply:
        """The text of a page."""
        page = self._page(request, version, slug)
        return text_reply(f"# {page['title']}\n\n{page['text']}\n")

    def feedback(self, request: Request, version: str, slug: str) -> Reply:
        """What the reader thinks of a page."""
        request.note = {"version": version, "slug": slug}
        known(self.pages, f"{version}/{slug}", "page")
        helpful = request.line("helpful", needed=True)
        if helpful not in {"yes", "no"}:
            raise Problem(400, "`helpful`: expected yes or no")
        said = {"helpful": helpful, "comment": request.text("comment", most=5000)}
        request.note |= said
        self.state["feedback"].append({"version": version, "slug": slug, **said})
        return see(f"{at('v', version, slug)}?thanks=1")

    # Search.

    def _search(self, request: Request) -> list[dict[str, Any]]:
        """Pages with all words; those with more of them in the title first."""
        query, version = request.query.get("q", ""), request.query.get("version", "")
        request.note = {"q": query, "version": version}
        if version:
            known(self.state["versions"], version, "version")
        words = words_of(query)
        if not words:
            return []
        self.spend_search()
        found: list[tuple[int, str, dict[str, Any]]] = []
        for key, page in self.pages.items():
            title, text = page["title"].casefold(), page["text"].casefold()
            if version in {"", page["version"]} and all(w in title or w in text for w in words):
                score = sum(10 * (w in title) + min(text.count(w), 9) for w in words)
                found.append((-score, key, page))
        request.note["results"] = len(found)
        return [page for _, _, page in sorted(found, key=lambda item: item[:2])]

    def search(self, request: Request) -> Reply:
        """The search page."""
        found = self._search(request)
        query, version = request.query.get("q", ""), request.query.get("version", "")
        shown, pages = self.paged(request, found)
        items = "".join(
            f"<li>{link(at('v', p['version'], p['slug']), p['title'])} ({h(p['version'])})"
            f"<br>{h(excerpt(p['text'], query))}</li>"
            for p in shown
        )
        count = self.count(found) if query else ""
        listed = f'<ol id="results">{items}</ol>'
        return self.page(self.t("search"), self._form(query, version), count, listed, pages)

    def api_search(self, request: Request) -> Reply:
        """The same search; it costs the same."""
        found = self._search(request)
        query = request.query.get("q", "")
        items = [
            {
                **{k: p[k] for k in ("version", "slug", "title")},
                "excerpt": excerpt(p["text"], query),
            }
            for p in found
        ]
        return json_reply({"total": len(items), "results": items[:100], **self.left()})

    def api_versions(self, request: Request) -> Reply:
        """All versions."""
        shown = [{k: v[k] for k in ("id", "label", "status")} for v in self._versions()]
        return json_reply({"versions": shown})

    def _versions(self) -> list[dict[str, Any]]:
        return list(self.state["versions"].values())

    def api_pages(self, request: Request) -> Reply:
        """Titles of a version's pages."""
        version = request.query.get("version", "")
        request.note = {"version": version}
        if version:
            known(self.state["versions"], version, "version")
        shown = ("version", "slug", "title", "section", "updated")
        found = [p for p in self.pages.values() if version in {"", p["version"]}]
        return json_reply({"pages": [{k: p[k] for k in shown} for p in found]})

    def api_page(self, request: Request, version: str, slug: str) -> Reply:
        """One page."""
        return json_reply(self._page(request, version, slug))


def excerpt(text: str, query: str) -> str:
    """The surroundings of the first word that is found."""
    places = [text.casefold().find(word) for word in words_of(query)]
    first = min((p for p in places if p >= 0), default=0)
    return " ".join(text[max(0, first - 60) : first + 120].split())


def inline(text: str, version: str) -> str:
    """Code, bold and links of one line, everything else escaped."""

    def target(found: re.Match[str]) -> str:
        where = found[2].replace("&amp;", "&")
        if ":" in where or where.startswith("//"):
            return f"{found[1]} ({found[2]})"
        if "/" not in where and not where.startswith("#"):
            where = at("v", version, where.partition("#")[0])
        return f'<a href="{h(where)}">{found[1]}</a>'

    parts = _CODE.split(text)
    for index, part in enumerate(parts):
        if index % 2:
            parts[index] = f"<code>{h(part)}</code>"
        else:
            parts[index] = _BOLD.sub(r"<strong>\1</strong>", _LINK.sub(target, h(part)))
    return "".join(parts)


def render(text: str, version: str) -> str:
    """Small Markdown: headings, lists, tables, fenced code, paragraphs."""
    parts: list[str] = []
    blocks = re.split(r"(```[^\n]*\n.*?(?:\n```|\Z))", text, flags=re.DOTALL)
    for block in blocks:
        if block.startswith("```"):
            inside = block.partition("\n")[2].removesuffix("```").rstrip("\n")
            parts.append(f"<pre><code>{h(inside)}</code></pre>")
        else:
            parts += [_paragraph(p, version) for p in re.split(r"\n\s*\n", block) if p.strip()]
    return "".join(parts)


def _paragraph(text: str, version: str) -> str:
    lines = text.strip("\n").split("\n")
    head = re.match(r"(#{1,4})\s+(.*)", lines[0])
    if head:
        level = min(len(head[1]) + 1, 5)
        rest = _paragraph("\n".join(lines[1:]), version) if len(lines) > 1 else ""
        return f"<h{level}>{inline(head[2], version)}</h{level}>{rest}"
    for pattern, tag in ((r"\s*[-*]\s+", "ul"), (r"\s*\d+[.)]\s+", "ol")):
        if all(re.match(pattern, line) for line in lines):
            items = [inline(re.sub(pattern, "", line, count=1), version) for line in lines]
            return f"<{tag}>{''.join(f'<li>{item}</li>' for item in items)}</{tag}>"
    if all(line.strip().startswith("|") for line in lines):
        return _table(lines, version)
    return f"<p>{'<br>'.join(inline(line, version) for line in lines)}</p>"


def _table(lines: list[str], version: str) -> str:
    rows: list[str] = []
    for line in lines:
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if all(re.fullmatch(r":?-+:?", c) for c in cells):
            continue
        tag = "td" if rows else "th"
        rows.append("".join(f"<{tag}>{inline(c, version)}</{tag}>" for c in cells))
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


if __name__ == "__main__":
    main(Docs)
