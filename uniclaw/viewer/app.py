"""The web application: routes over page functions, run in threads; errors become pages."""

import mimetypes
from collections.abc import Awaitable, Callable
from pathlib import Path

from pydantic import JsonValue
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from uniclaw.viewer import (
    overview,
    pages_ablation,
    pages_detail,
    pages_episode,
    pages_pair,
    pages_run,
    pages_tables,
    pages_task,
)
from uniclaw.viewer.access import NoSuchPage
from uniclaw.viewer.conversation import IMAGES, picture_type
from uniclaw.viewer.films import film_type
from uniclaw.viewer.guard import SANDBOX, Door, Guard
from uniclaw.viewer.labels import chosen_lang
from uniclaw.viewer.links import PATHS, ServerLinks
from uniclaw.viewer.render import HERE, Ask, Page, Site, prepare, render

Handler = Callable[[Request], Awaitable[Response]]

PAGES: dict[str, Callable[[Ask], Page]] = {
    "runs": pages_run.runs,
    "run": pages_run.run,
    "episodes": pages_run.episodes,
    "matrix": pages_tables.matrix,
    "tasks": pages_tables.tasks,
    "task": pages_task.task,
    "compare": pages_tables.compare,
    "ablation": pages_ablation.ablation,
    "episode": pages_episode.episode,
    "events": pages_detail.events,
    "files": pages_detail.files,
    "preview": pages_detail.preview,
    "exchanges": pages_detail.exchanges,
    "exchange": pages_detail.exchange,
    "pair": pages_pair.pair,
}
"""Page functions by kind."""
FRAGMENTS: dict[str, Callable[[Ask], dict[str, JsonValue]]] = {
    "runs_live": overview.live_runs,
    "live": overview.live_run,
    "episode_live": pages_episode.live_episode,
}
BYTES: dict[str, Callable[[Ask], bytes]] = {
    "raw": pages_detail.raw_file,
    "film": pages_detail.film,
    "event": pages_detail.raw_event,
    "image": pages_detail.event_image,
    "view": pages_detail.raw_view,
}
"""Stored bytes by kind."""
HOME: tuple[str, dict[str, str]] = ("runs", {})
BYTES_TYPE = "application/octet-stream"
TEXT_TYPES = frozenset({".txt", ".md", ".csv", ".json", ".log", ".py", ".yaml", ".yml", ".tsv"})


def ask_of(request: Request, site: Site) -> Ask:
    """What a request asks for; parameters of the path win."""
    params = {**dict(request.query_params), **{k: str(v) for k, v in request.path_params.items()}}
    asked = request.query_params.get("lang", "")
    lang = chosen_lang(asked, request.headers.get("accept-language", ""))
    keep = {"lang": asked} if asked in ("en", "zh") else {}
    return Ask(site=site, lang=lang, links=ServerLinks(keep), params=params)


def build_app(site: Site, door: Door) -> Starlette:
    """The application."""
    prepare()
    routes = [Route(_path(kind), _page(site, make)) for kind, make in PAGES.items()]
    # Fixed names stand before parameters of the same place.
    fragments = [Route(_path(kind), _fragment(site, make)) for kind, make in FRAGMENTS.items()]
    stored = [Route(_path(kind), _stored(site, kind, make)) for kind, make in BYTES.items()]
    app = Starlette(
        routes=[Route("/static/{name}", _asset), *fragments, *stored, *routes],
        middleware=[Middleware(Guard, door=door)],
        exception_handlers={HTTPException: _http_error(site)},
    )
    # A slash at the end is another address, not a redirect that would repeat a token.
    app.router.redirect_slashes = False
    return app


def _path(kind: str) -> str:
    parts: list[str] = []
    for part in PATHS[kind]:
        if part == "r" or part.startswith("="):
            parts.append(part.removeprefix("="))
        else:
            parts.append(f"{{{part}:path}}" if part in ("path", "task") else f"{{{part}}}")
    return f"/{'/'.join(parts)}"


def _page(site: Site, make: Callable[[Ask], Page]) -> Handler:
    async def handle(request: Request) -> Response:
        ask = ask_of(request, site)
        page = await run_in_threadpool(_made, ask, make)
        return HTMLResponse(page.html, page.status)

    return handle


def _made(ask: Ask, make: Callable[[Ask], Page]) -> Page:
    try:
        return make(ask)
    except NoSuchPage as error:
        return error_page(ask, error)
    except OSError as error:
        # A run that disappears while its page is made.
        return error_page(ask, NoSuchPage("error.gone", str(error.strerror or ""), status=410))


def error_page(ask: Ask, error: NoSuchPage) -> Page:
    """The page that says what is wrong."""
    return render(
        "error.html",
        ask,
        status=error.status,
        here=HOME,
        key=error.key,
        detail=error.detail,
    )


def _fragment(site: Site, make: Callable[[Ask], dict[str, JsonValue]]) -> Handler:
    async def handle(request: Request) -> Response:
        ask = ask_of(request, site)
        try:
            return JSONResponse(await run_in_threadpool(make, ask))
        except (NoSuchPage, OSError):
            return JSONResponse({"version": "gone", "open": False}, 404)

    return handle


def _stored(site: Site, kind: str, make: Callable[[Ask], bytes]) -> Handler:
    async def handle(request: Request) -> Response:
        ask = ask_of(request, site)
        try:
            data = await run_in_threadpool(make, ask)
        except NoSuchPage as error:
            page = error_page(ask, error)
            return HTMLResponse(page.html, page.status)
        except OSError:
            page = error_page(ask, NoSuchPage("error.gone", status=410))
            return HTMLResponse(page.html, page.status)
        return sandboxed(kind, data, ask.params.get("path", ""))

    return handle


def sandboxed(kind: str, data: bytes, path: str) -> Response:
    """Bytes that nobody vouches for: no script, no sniffing; active types are downloads."""
    headers = {"content-security-policy": SANDBOX}
    ending = Path(path).suffix.lower()
    if kind == "image":
        return Response(data, headers=headers, media_type=picture_type(data) or BYTES_TYPE)
    if kind == "film":
        return Response(data, headers=headers, media_type=film_type(data))
    if kind in ("event", "view"):
        return Response(data, headers=headers, media_type="text/plain; charset=utf-8")
    if ending in IMAGES:
        return Response(data, headers=headers, media_type=IMAGES[ending])
    if ending in TEXT_TYPES:
        return Response(data, headers=headers, media_type="text/plain; charset=utf-8")
    name = Path(path).name.encode("ascii", "replace").decode().translate(_UNSAFE)
    headers["content-disposition"] = f'attachment; filename="{name[:120]}"'
    return Response(data, headers=headers, media_type=BYTES_TYPE)


_UNSAFE = {ord(c): "_" for c in "\"\\\r\n;%?<>&'"}


async def _asset(request: Request) -> Response:
    """A file of the package: only those that are there by name."""
    name = request.path_params["name"]
    known = {file.name: file for file in (HERE / "static").iterdir() if file.is_file()}
    if name not in known:
        raise HTTPException(404)
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    headers = {"cache-control": "private, max-age=300"}
    return Response(known[name].read_bytes(), media_type=kind, headers=headers)


def _http_error(site: Site) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def handle(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 404
        page = error_page(ask_of(request, site), NoSuchPage("error.no_page", status=status))
        return HTMLResponse(page.html, page.status)

    return handle
