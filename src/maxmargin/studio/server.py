"""The page over the loopback address: a few files and a WebSocket, behind a token.

A page of another origin cannot reach it: the address holds a token that only this machine's user has been told, the
Host must be the loopback address and the Origin of a WebSocket the page itself. Each tab has a session of its own,
which ends with its connection, or after a while without a command.
"""

from __future__ import annotations

import asyncio
import gzip
import logging
import secrets
import socket
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from maxmargin.errors import InvalidInput, missing_extra
from maxmargin.studio.arguments import LIMITS
from maxmargin.studio.bundle import PAGE
from maxmargin.studio.session import Session

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import HTTPConnection, Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket

HOST = "127.0.0.1"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
#: Nothing but the page's own files; what it draws and offers to keep are blobs and data.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' {ws}; img-src 'self' data: blob:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
#: Seconds without a command after which a tab's session is closed, and how many tabs there may be.
IDLE, TABS = 3600.0, 16


def application(token: str, idle: float = IDLE) -> Starlette:
    """The application: its files and its WebSocket are below the token."""
    try:
        from starlette.applications import Starlette
        from starlette.routing import Route, WebSocketRoute
    except ImportError:
        raise missing_extra("starlette", "studio") from None

    host = _Host(token, idle)
    routes = [WebSocketRoute("/{token}/ws", host.talk), Route("/{token}/{path:path}", host.file)]
    made = Starlette(routes=routes)
    made.router.redirect_slashes = False  # a redirect would be to whatever Host was asked for
    return made


class _Host:
    """What the routes share: the token, and how many tabs there are."""

    def __init__(self, token: str, idle: float) -> None:
        self.token, self.idle, self.tabs = token, idle, 0

    async def file(self, request: Request) -> Response:
        """One of the page's files."""
        from starlette.responses import Response

        headers = {
            "Content-Security-Policy": POLICY.format(ws=f"ws://{request.headers.get('host', HOST)}"),
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cache-Control": "no-store",
        }
        if not self._welcome(request, request.path_params["token"]):
            return Response("This is not the address that maxmargin studio has printed.\n", 403, headers)
        # A name is looked up among those that there are: no path is made of it.
        files = {file.relative_to(PAGE).as_posix(): file for file in PAGE.rglob("*") if file.suffix in TYPES}
        file = files.get(request.path_params["path"] or "index.html")
        if file is None:
            return Response("There is no such file.\n", 404, headers)
        raw = file.read_bytes()
        if "gzip" in request.headers.get("accept-encoding", ""):
            raw, headers["Content-Encoding"] = gzip.compress(raw, 6, mtime=0), "gzip"
        return Response(raw, 200, headers, media_type=TYPES[file.suffix])

    async def talk(self, socket: WebSocket) -> None:
        """One tab: its commands are answered one after the other."""
        from starlette.websockets import WebSocketDisconnect

        origin = socket.headers.get("origin")
        here = f"http://{socket.headers.get('host', '')}"
        if not self._welcome(socket, socket.path_params["token"]) or origin != here:
            await socket.close(1008, "not the page's own address")
            return
        if self.tabs >= TABS:
            await socket.close(1013, "too many tabs are open")
            return
        await socket.accept()
        self.tabs += 1
        desk = _Desk()
        try:
            while True:
                message = await asyncio.wait_for(socket.receive(), self.idle)
                if message["type"] == "websocket.disconnect":
                    break
                command = message.get("text")
                if command is None:
                    await socket.close(1003, "commands are texts")
                    break
                await socket.send_bytes(await desk.answer(command))
        except TimeoutError:
            await socket.close(1001, "nothing has happened for a long time; reload the page")
        except (WebSocketDisconnect, RuntimeError, asyncio.CancelledError):
            pass  # the tab was closed, or the server ended, while its answer was made
        finally:
            self.tabs -= 1
            desk.close()

    def _welcome(self, request: HTTPConnection, token: str) -> bool:
        """Whether the token is right, and the Host is the loopback address by a name that no other site can have."""
        host = request.headers.get("host", "").rpartition(":")[0]
        return host in (HOST, "localhost") and secrets.compare_digest(token.encode(), self.token.encode())


class _Desk:
    """A tab's session in a thread of its own, which keeps nobody from ending the program in the middle of a command."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[tuple[str, asyncio.Future[bytes]] | None] = SimpleQueue()
        Thread(target=self._work, daemon=True, name="studio").start()

    async def answer(self, command: str) -> bytes:
        """The answer to a command, once it is there."""
        coming: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting.put((command, coming))
        return await coming

    def close(self) -> None:
        """No more commands."""
        self._waiting.put(None)

    def _work(self) -> None:
        session = Session()
        while (told := self._waiting.get()) is not None:
            command, coming = told
            answer = session.answer(command)
            with suppress(RuntimeError):  # the server has ended meanwhile
                coming.get_loop().call_soon_threadsafe(_hand_over, coming, answer)


def _hand_over(coming: asyncio.Future[bytes], answer: bytes) -> None:
    if not coming.done():  # nobody waits for it where the tab was closed
        coming.set_result(answer)


def open_socket(port: int | None) -> socket.socket:
    """A listening socket on the loopback address: at a port, or at any that is free."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((HOST, port or 0))
    except (OSError, OverflowError) as error:
        made.close()
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise InvalidInput(f"cannot use port {port}: {why}; choose another, or leave it out") from None
    return made


def server(token: str, idle: float = IDLE) -> uvicorn.Server:
    """A server that is ready to run on a socket."""
    app: Any = application(token, idle)
    try:
        import uvicorn
        import websockets  # noqa: F401 (uvicorn needs it for the WebSocket, and says so only in its log)
    except ImportError as error:
        raise missing_extra(error.name or "uvicorn", "studio") from None
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="websockets-sansio",
        ws_max_size=LIMITS["message"],
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=1,
        lifespan="off",
    )
    # Whoever presses Ctrl-C while an answer is made knows that it is broken off.
    logging.getLogger("uvicorn.error").addFilter(lambda record: not record.getMessage().startswith("Cancel "))
    return uvicorn.Server(config)


def _warm() -> None:
    """Load (or, for the first time on a machine, compile) what the first answers need, while the browser starts."""
    session = Session()
    points = {"X": [[0.0, 0.0], [0.0, 1.0], [2.0, 1.0], [3.0, 2.0]], "y": [0, 0, 1, 1]}
    for kernel, large in (("linear", "coordinate-newton"), ("rbf", "working-set")):
        problem = {**points, "kernel": kernel, "bias": "free", "C": 1.0}
        session.answer({"id": 1, "op": "run", "problem": problem, "solver": "smo", "options": {"grain": 1}})
        session.answer({"id": 2, "op": "step", "run": next(reversed(session.runs)), "k": 3})
        for solver in ("auto", large):
            session.answer({"id": 3, "op": "solve", "problem": problem, "solver": solver, "seconds": 30})


def serve(port: int | None = None, opened: Any = None) -> None:
    """Serve the page until Ctrl-C; `opened` is called with its address once it can be reached."""
    token = secrets.token_urlsafe(18)
    made = server(token)
    with open_socket(port) as listening:
        address = f"http://{HOST}:{listening.getsockname()[1]}/{token}/"
        listening.listen(64)  # from here on a browser may come: it waits until the server takes it
        Thread(target=_warm, daemon=True).start()
        if opened is not None:
            opened(address)
        with suppress(KeyboardInterrupt):
            made.run(sockets=[listening])
