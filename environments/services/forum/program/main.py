"""A web forum: boards, threads and posts of one signed-in user, with people who answer by rules."""

from typing import Any

from httpkit import Problem, Reply, Request, json_reply, see
from seeding import SeedError
from servicekit import Route, found_in, known, main, words_of
from sitekit import PAGE_SIZE, Site, area, at, choice, field, form, h, link, table, text_block

POST = {"id": "text", "author": "text!", "text": "text!", "time": "time"}
THREAD = {
    "id": "text",
    "board": "text",
    "title": "text",
    "pinned": "flag",
    "locked": "flag",
    "posts": [POST],
}
MAX_TITLE = 200
MAX_TEXT = 40_000


class Forum(Site):
    """The forum as one user sees it."""

    name = "forum"
    port = 8032
    schema = {
        **Site.site_fields,
        "user": {"id": "text!", "name": "text"},
        "users": [{"id": "text!", "name": "text", "role": "text"}],
        "boards": [{"id": "text!", "name": "text", "description": "text"}],
        "threads": [THREAD],
    }
    verbs = {
        "thread": THREAD,
        "post": {**POST, "thread": "text!"},
        "lock": {"thread": "text!"},
        "remove_post": {"id": "text!"},
    }
    reply_schema = {"author": "text!", "text": "text!"}
    rule_fields = ("board", "title", "text", "thread")
    labels = {
        "site": ("Forum", "论坛"),
        "boards": ("Boards", "版块"),
        "board": ("Board", "版块"),
        "threads": ("Threads", "主题"),
        "thread": ("Thread", "主题"),
        "author": ("Author", "作者"),
        "posts": ("Posts", "帖数"),
        "last": ("Last post", "最后发表"),
        "all": ("all boards", "全部版块"),
        "new": ("New thread", "发表新主题"),
        "title": ("Title", "标题"),
        "text": ("Text", "正文"),
        "publish": ("Publish", "发表"),
        "reply": ("Reply", "回复"),
        "edit": ("Save changes", "保存修改"),
        "delete": ("Delete", "删除"),
        "like": ("Like ({})", "赞（{}）"),
        "report": ("Report", "举报"),
        "reason": ("Reason", "理由"),
        "locked": ("This thread is closed.", "此主题已关闭。"),
        "closed": ("closed", "已关闭"),
        "pinned": ("pinned", "置顶"),
        "deleted": ("This post was deleted.", "此帖已删除。"),
        "edited": ("edited", "已编辑"),
        "reported": ("Thank you for the report.", "感谢举报。"),
    }

    def make_routes(self) -> list[Route]:
        """All routes."""
        return [
            ("GET", "/", "home", self.home),
            ("GET", "/board/{id}", "board", self.board),
            ("GET", "/board/{id}/new", "new_form", self.new_form),
            ("POST", "/board/{id}/new", "thread_create", self.create),
            ("GET", "/thread/{id}", "thread", self.thread),
            ("POST", "/thread/{id}/reply", "reply", self.reply),
            ("POST", "/post/{id}/edit", "edit", self.edit),
            ("POST", "/post/{id}/delete", "delete", self.delete),
            ("POST", "/post/{id}/report", "report", self.report),
            ("POST", "/post/{id}/like", "like", self.like),
            ("GET", "/user/{id}", "user", self.user),
            ("GET", "/search", "search", self.search),
            ("GET", "/api/boards", "home", self.api_boards),
            ("GET", "/api/boards/{id}", "board", self.api_board),
            ("GET", "/api/threads/{id}", "thread", self.api_thread),
            ("POST", "/api/threads", "thread_create", self.api_create),
            ("POST", "/api/threads/{id}/posts", "reply", self.api_reply),
            ("GET", "/api/search", "search", self.api_search),
        ]

    def populate(self) -> None:
        """Users, boards and threads of the seed."""
        me = self.seed["user"] or {"id": "me", "name": "Me"}
        everybody = [{**me, "role": ""}, *self.seed["users"]]
        boards = self.seed["boards"] or [{"id": "general", "name": "", "description": ""}]
        self.state |= {
            "user": me["id"],
            "users": {u["id"]: {**u, "name": u["name"] or u["id"]} for u in everybody},
            "boards": {b["id"]: {**b, "name": b["name"] or b["id"]} for b in boards},
            "threads": {},
            "posts": {},
            "written": [],
            "searches": 0,
        }
        for index, thread in enumerate(self.seed["threads"]):
            try:
                self.do_thread(thread)
            except Problem as error:
                raise SeedError(f"seed.json.threads[{index}]", error.message) from error

    @property
    def posts(self) -> dict[str, dict[str, Any]]:
        """All posts by id, oldest first."""
        return self.state["posts"]

    @property
    def threads(self) -> dict[str, dict[str, Any]]:
        """All threads by id."""
        return self.state["threads"]

    # Changes between rounds.

    def do_thread(self, fields: dict[str, Any]) -> dict[str, Any]:
        """A thread with its posts begins."""
        known(self.state["boards"], fields.get("board") or "", "board")
        identity = fields.get("id") or self.new_id("t", self.threads)
        if identity in self.threads:
            raise Problem(400, f"id: {identity!r} stands twice")
        if not fields.get("title") or not fields.get("posts"):
            raise Problem(400, "a thread has a title and posts")
        author = fields["posts"][0]["author"]
        self._begin(identity, fields["board"], fields["title"], author)
        self.threads[identity] |= {k: bool(fields.get(k)) for k in ("pinned", "locked")}
        for post in fields["posts"]:
            self.do_post({**post, "thread": identity})
        return {"id": identity, "title": fields["title"]}

    def do_post(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Somebody writes."""
        known(self.threads, fields["thread"], "thread")
        known(self.state["users"], fields["author"], "user")
        post = self._add(
            fields["thread"], fields["author"], fields["text"], identity=fields.get("id") or ""
        )
        post["time"] = fields.get("time") or self.now
        return {k: post[k] for k in ("id", "thread", "author", "text")}

    def do_lock(self, fields: dict[str, Any]) -> dict[str, Any]:
        """A thread is closed."""
        known(self.threads, fields["thread"], "thread")["locked"] = True
        return fields

    def do_remove_post(self, fields: dict[str, Any]) -> dict[str, Any]:
        """A post is gone; its place stays."""
        known(self.posts, fields["id"], "post")["deleted"] = True
        return fields

    def _begin(self, identity: str, board: str, title: str, author: str) -> None:
        self.threads[identity] = {
            "id": identity,
            "board": board,
            "title": title,
            "author": author,
            "pinned": False,
            "locked": False,
        }

    def _add(self, thread: str, author: str, text: str, *, identity: str = "") -> dict[str, Any]:
        if identity in self.posts:
            raise Problem(400, f"id: {identity!r} stands twice")
        post = {
            "id": identity or self.new_id("p", self.posts),
            "thread": thread,
            "author": author,
            "text": text,
            "time": self.now,
            "edited": False,
            "deleted": False,
            "likes": [],
            "reports": [],
        }
        self.posts[post["id"]] = post
        return post

    # Reading.

    def _name(self, user: str) -> str:
        return self.state["users"].get(user, {}).get("name", user)

    def _of(self, thread: str) -> list[dict[str, Any]]:
        return [p for p in self.posts.values() if p["thread"] == thread]

    def _on(self, board: str) -> list[dict[str, Any]]:
        """Threads of a board: pinned ones first, then those with the newest post."""
        order = {p["thread"]: i for i, p in enumerate(self.posts.values())}
        found = [t for t in self.threads.values() if t["board"] == board]
        return sorted(found, key=lambda t: (not t["pinned"], -order.get(t["id"], -1)))

    def _form(self, query: dict[str, str]) -> str:
        options = [("", self.t("all"))]
        options += [(b["id"], b["name"]) for b in self.state["boards"].values()]
        more = choice("board", self.t("board"), options, query.get("board", ""))
        more += field("author", self.t("author"), query.get("author", ""))
        return self.search_form(query.get("q", ""), more)

    def home(self, request: Request) -> Reply:
        """All boards."""
        rows = [
            [
                link(at("board", b["id"]), b["name"]),
                h(b["description"]),
                str(len(self._on(b["id"]))),
            ]
            for b in self.state["boards"].values()
        ]
        who = f"<p>{h(self.t('signed_in', self._name(self.state['user'])))}</p>"
        heads = [self.t("board"), "", self.t("threads")]
        return self.page(self.t("boards"), who, self._form({}), table(heads, rows, name="boards"))

    def _marks(self, thread: dict[str, Any]) -> str:
        marks = [self.t(w) for k, w in (("pinned", "pinned"), ("locked", "closed")) if thread[k]]
        return f" [{h(', '.join(marks))}]" if marks else ""

    def board(self, request: Request, identity: str) -> Reply:
        """A board's threads."""
        request.note = {"id": identity}
        board = known(self.state["boards"], identity, "board")
        shown, pages = self.paged(request, self._on(identity))
        rows: list[list[str]] = []
        for thread in shown:
            posts = self._of(thread["id"])
            title = link(at("thread", thread["id"]), thread["title"]) + self._marks(thread)
            last = f"{h(self._name(posts[-1]['author']))}, {h(posts[-1]['time'])}"
            rows.append([title, h(self._name(thread["author"])), str(len(posts)), last])
        heads = [self.t(k) for k in ("thread", "author", "posts", "last")]
        new = f"<p>{link(at('board', identity, 'new'), self.t('new'), id='new-thread')}</p>"
        about = f"<p>{h(board['description'])}</p>"
        return self.page(board["name"], about, new, table(heads, rows, name="threads"), pages)

    def new_form(self, request: Request, identity: str) -> Reply:
        """The form of a new thread."""
        request.note = {"board": identity}
        board = known(self.state["boards"], identity, "board")
        fields = field("title", self.t("title")) + area("text", self.t("text"))
        shown = form(at("board", identity, "new"), fields, self.t("publish"), name="new-form")
        return self.page(f"{self.t('new')}: {board['name']}", shown)

    def _post(self, post: dict[str, Any]) -> str:
        identity = post["id"]
        name = link(at("user", post["author"]), self._name(post["author"]), rel="author")
        edited = f" ({h(self.t('edited'))})" if post["edited"] else ""
        head = f"<p>{name}, <time>{h(post['time'])}</time>{edited}</p>"
        if post["deleted"]:
            body = f"<p><em>{h(self.t('deleted'))}</em></p>"
            return f'<article id="{h(identity)}">{head}{body}</article>'
        like = self.t("like", len(post["likes"]))
        parts = [form(at("post", identity, "like"), "", like, name=f"like-{identity}")]
        if post["author"] == self.state["user"]:
            text = area("text", self.t("text"), post["text"]).replace(
                '"text"', f'"text-{identity}"', 2
            )
            parts.append(
                form(at("post", identity, "edit"), text, self.t("edit"), name=f"edit-{identity}")
            )
            where, label = at("post", identity, "delete"), self.t("delete")
            parts.append(form(where, "", label, name=f"delete-{identity}"))
        else:
            reason = field("reason", self.t("reason")).replace(
                '"reason"', f'"reason-{identity}"', 2
            )
            where, label = at("post", identity, "report"), self.t("report")
            parts.append(form(where, reason, label, name=f"report-{identity}"))
        forms = f"<details><summary>…</summary>{''.join(parts)}</details>"
        return f'<article id="{h(identity)}">{head}{text_block(post["text"])}{forms}</article>'

    def thread(self, request: Request, identity: str) -> Reply:
        """A thread's posts, oldest first."""
        request.note = {"id": identity}
        thread = known(self.threads, identity, "thread")
        board = self.state["boards"][thread["board"]]
        shown, pages = self.paged(request, self._of(identity))
        up = f"<p>{link(at('board', board['id']), board['name'])}{self._marks(thread)}</p>"
        posts = "".join(self._post(post) for post in shown)
        if thread["locked"]:
            end = f'<p class="notice">{h(self.t("locked"))}</p>'
        else:
            where = at("thread", identity, "reply")
            end = form(where, area("text", self.t("text")), self.t("reply"), name="reply-form")
        return self.page(thread["title"], up, posts, pages, end)

    def user(self, request: Request, identity: str) -> Reply:
        """What somebody wrote."""
        request.note = {"id": identity}
        user = known(self.state["users"], identity, "user")
        found = [p for p in self.posts.values() if p["author"] == identity and not p["deleted"]]
        shown, pages = self.paged(request, found[::-1])
        items = "".join(self._hit(post) for post in shown)
        role = f"<p>{h(user['role'])}</p>"
        return self.page(user["name"], role, f'<ul id="posts">{items}</ul>', pages)

    def _hit(self, post: dict[str, Any]) -> str:
        thread = self.threads[post["thread"]]
        page = self._of(thread["id"]).index(post) // PAGE_SIZE + 1
        query = f"?page={page}" if page > 1 else ""
        where = f"{at('thread', thread['id'])}{query}#{post['id']}"
        preview = " ".join(post["text"].split())[:160]
        name, time = h(self._name(post["author"])), h(post["time"])
        return f"<li>{link(where, thread['title'])} - {name}, {time}<br>{h(preview)}</li>"

    def _search(self, request: Request) -> list[dict[str, Any]]:
        """Posts with all words in them or in the title, newest first."""
        query = request.query
        words = words_of(query.get("q", ""))
        board, author = query.get("board", ""), query.get("author", "").casefold()
        request.note = {"q": query.get("q", ""), "board": board, "author": author}
        if not words and not author:
            return []
        self.spend_search()
        found = [
            p
            for p in self.posts.values()
            if not p["deleted"]
            and found_in(words, p["text"], self.threads[p["thread"]]["title"])
            and board in {"", self.threads[p["thread"]]["board"]}
            and author in {"", p["author"].casefold(), self._name(p["author"]).casefold()}
        ]
        request.note["results"] = len(found)
        return found[::-1]

    def search(self, request: Request) -> Reply:
        """The search page."""
        found = self._search(request)
        shown, pages = self.paged(request, found)
        items = "".join(self._hit(post) for post in shown)
        asked = request.query.get("q") or request.query.get("author")
        count = self.count(found) if asked else ""
        listed = f'<ol id="results">{items}</ol>'
        return self.page(self.t("search"), self._form(request.query), count, listed, pages)

    # Writing.

    def _create(self, request: Request, board: str) -> dict[str, Any]:
        request.note = {"board": board, "title": request.line("title")}
        known(self.state["boards"], board, "board")
        title, text = request.line("title", needed=True), request.text("text", needed=True)
        if len(title) > MAX_TITLE or len(text) > MAX_TEXT:
            raise Problem(400, f"a title has at most {MAX_TITLE} characters, a text {MAX_TEXT}")
        identity = self.new_id("t", self.threads)
        self._begin(identity, board, title, self.state["user"])
        post = self._write(identity, text)
        request.note |= {"id": identity, "title": title, "text": text, "post": post["id"]}
        return self.threads[identity]

    def _reply(self, request: Request, identity: str) -> dict[str, Any]:
        request.note = {"thread": identity}
        thread = known(self.threads, identity, "thread")
        if thread["locked"]:
            raise Problem(403, self.t("locked"))
        text = request.text("text", needed=True, most=MAX_TEXT)
        post = self._write(identity, text)
        request.note |= {"id": post["id"], "text": text}
        return post

    def _write(self, thread: str, text: str) -> dict[str, Any]:
        post = self._add(thread, self.state["user"], text)
        self.state["written"].append(post["id"])
        about = self.threads[thread]
        fields: dict[str, Any] = {"board": about["board"], "title": about["title"]}
        fields |= {"text": text, "thread": thread}

        def sender(rule: dict[str, Any]) -> str:
            return rule["reply"]["author"] if rule["reply"] else f"rule {rule['id']}"

        for rule in self.rules_for(fields, sender):
            answer = rule["reply"] and {"do": "post", "thread": thread, **rule["reply"]}
            self.answer_by(rule, answer)
        return post

    def create(self, request: Request, identity: str) -> Reply:
        """A new thread."""
        return see(at("thread", self._create(request, identity)["id"]))

    def reply(self, request: Request, identity: str) -> Reply:
        """A new post."""
        post = self._reply(request, identity)
        page = (len(self._of(identity)) - 1) // PAGE_SIZE + 1
        query = f"?page={page}" if page > 1 else ""
        return see(f"{at('thread', identity)}{query}#{post['id']}")

    def _own(self, identity: str) -> dict[str, Any]:
        post = self._alive(identity)
        if post["author"] != self.state["user"]:
            raise Problem(403, f"post {identity} is not yours")
        return post

    def _alive(self, identity: str) -> dict[str, Any]:
        post = known(self.posts, identity, "post")
        if post["deleted"]:
            raise Problem(409, self.t("deleted"))
        return post

    def _back(self, post: dict[str, Any]) -> Reply:
        return see(f"{at('thread', post['thread'])}#{post['id']}")

    def edit(self, request: Request, identity: str) -> Reply:
        """Change an own post."""
        request.note = {"id": identity}
        post, text = self._own(identity), request.text("text", needed=True, most=MAX_TEXT)
        post |= {"text": text, "edited": True}
        request.note["text"] = text
        return self._back(post)

    def delete(self, request: Request, identity: str) -> Reply:
        """Take back an own post."""
        request.note = {"id": identity}
        post = self._own(identity)
        post["deleted"] = True
        return self._back(post)

    def report(self, request: Request, identity: str) -> Reply:
        """Tell the moderators about a post."""
        reason = request.text("reason", most=5000)
        request.note = {"id": identity, "reason": reason}
        post = self._alive(identity)
        post["reports"].append(reason)
        words = f'<p class="notice" role="status">{h(self.t("reported"))}</p>'
        back = link(at("thread", post["thread"]), self.threads[post["thread"]]["title"])
        return self.page(self.t("report"), words, f"<p>{back}</p>")

    def like(self, request: Request, identity: str) -> Reply:
        """Like a post, or no longer."""
        request.note = {"id": identity}
        post, me = self._alive(identity), self.state["user"]
        post["likes"] = [u for u in post["likes"] if u != me] + [me] * (me not in post["likes"])
        return self._back(post)

    # For programs.

    def api_boards(self, request: Request) -> Reply:
        """All boards."""
        return json_reply({"boards": list(self.state["boards"].values())})

    def api_board(self, request: Request, identity: str) -> Reply:
        """A board's threads."""
        request.note = {"id": identity}
        board = known(self.state["boards"], identity, "board")
        return json_reply({**board, "threads": self._on(identity)})

    def _shown(self, post: dict[str, Any]) -> dict[str, Any]:
        hidden = {"reports", "text"} if post["deleted"] else {"reports"}
        return {k: v for k, v in post.items() if k not in hidden}

    def api_thread(self, request: Request, identity: str) -> Reply:
        """A thread with its posts."""
        request.note = {"id": identity}
        thread = known(self.threads, identity, "thread")
        return json_reply({**thread, "posts": [self._shown(p) for p in self._of(identity)]})

    def api_create(self, request: Request) -> Reply:
        """A new thread."""
        return json_reply(self._create(request, request.line("board", needed=True)), 201)

    def api_reply(self, request: Request, identity: str) -> Reply:
        """A new post."""
        return json_reply(self._shown(self._reply(request, identity)), 201)

    def api_search(self, request: Request) -> Reply:
        """The same search; it costs the same."""
        found = [self._shown(p) for p in self._search(request)]
        return json_reply({"total": len(found), "results": found[:100], **self.left()})


if __name__ == "__main__":
    main(Forum)
