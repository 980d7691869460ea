"""The server and its requests. Every one needs the token, and the address of this server as its host."""

from __future__ import annotations

import hmac
import json
import queue
import secrets
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, BinaryIO, cast
from urllib.parse import parse_qs, urlsplit

from ..bundle import module
from .documents import SUFFIXES, Documents, RefusedError
from .page import page
from .requests import arguments, offered
from .work import Work

HEADERS_SECONDS = 15.0  # in which a request's headers have to arrive
SLOWEST = 50_000  # bytes per second of an upload
MAX_JSON = 1 << 20
MAX_CONNECTIONS = 64
LOOK_SECONDS = 0.4  # between two looks at the files
SECURITY = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Server(ThreadingHTTPServer):
    """A server on 127.0.0.1, with its documents, its work and those who listen for changes."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, documents: Documents, work: Work, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.documents = documents
        self.work = work
        self.token = secrets.token_urlsafe(24)
        self.stopping = threading.Event()
        self._listeners: list[queue.SimpleQueue[dict[str, Any] | None]] = []
        self._open: dict[socket.socket, float] = {}  # connections, and when they have to be further
        self._lock = threading.Lock()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/{self.token}/"

    @property
    def hosts(self) -> tuple[str, ...]:
        return f"127.0.0.1:{self.server_port}", f"localhost:{self.server_port}"

    # -- connections

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Whether a connection is taken: there are not too many."""
        with self._lock:
            return len(self._open) < MAX_CONNECTIONS

    def expect(self, connection: socket.socket, seconds: float | None) -> None:
        """Close a connection after some seconds unless it is expected again; None: when it likes."""
        with self._lock:
            self._open[connection] = float("inf") if seconds is None else time.monotonic() + seconds

    def forget(self, connection: socket.socket) -> None:
        """Forget a connection that ended."""
        with self._lock:
            self._open.pop(connection, None)

    def service_actions(self) -> None:
        """Close the connections that are too slow."""
        now = time.monotonic()
        with self._lock:
            late = [connection for connection, end in self._open.items() if end < now]
        for connection in late:
            _shut(connection)

    def stop(self) -> None:
        """End all connections, and all work."""
        self.stopping.set()
        self.work.stop()
        with self._lock:
            connections = list(self._open)
            listeners = list(self._listeners)
        for listener in listeners:
            listener.put(None)
        for connection in connections:
            _shut(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep silent about a connection that broke."""

    # -- changes

    def watch(self) -> None:
        """Look at the files, and tell the pages what changed, until the server stops."""
        while not self.stopping.wait(LOOK_SECONDS):
            changed = self.documents.changed()
            if changed is None:
                self.tell({"event": "documents"})
                continue
            for document in changed:
                self.tell({"event": "changed", "document": document.number})

    def tell(self, event: dict[str, Any]) -> None:
        """Send an event to every page, with the list of the documents."""
        message = {**event, "documents": self.documents.public()}
        with self._lock:
            for listener in self._listeners:
                listener.put(message)

    def listen(self) -> queue.SimpleQueue[dict[str, Any] | None]:
        """Return a queue of the events from now on; None is the last one."""
        listener: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        with self._lock:
            self._listeners.append(listener)
        return listener

    def leave(self, listener: queue.SimpleQueue[dict[str, Any] | None]) -> None:
        """End a page's listening."""
        with self._lock:
            self._listeners.remove(listener)


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


class Handler(BaseHTTPRequestHandler):
    """One connection, of one request."""

    server: Server
    server_version = "relay-explorer"
    sys_version = ""
    protocol_version = "HTTP/1.0"

    def setup(self) -> None:
        super().setup()
        self.server.expect(self.connection, HEADERS_SECONDS)

    def finish(self) -> None:
        try:
            super().finish()
        finally:
            self.server.forget(self.connection)

    def log_message(self, format: str, *args: Any) -> None:
        """Write no log: an address in it would contain the token."""

    def do_GET(self) -> None:
        pages: dict[str, Callable[[Mapping[str, list[str]]], None]] = {
            "": lambda query: self._send(
                200, "text/html; charset=utf-8", page(offered(), sorted(SUFFIXES)).encode()
            ),
            "relay_explorer.js": lambda query: self._send(200, "text/javascript", module().encode()),
            "server.js": lambda query: self._send(200, "text/javascript", module("server.js").encode()),
            "documents": lambda query: self._json(200, {"documents": self.server.documents.public()}),
            "events": lambda query: self._events(),
        }
        self._answer(pages)

    def do_POST(self) -> None:
        self._answer({"drop": self._drop, "show": self._show})

    def _answer(self, routes: Mapping[str, Callable[[Mapping[str, list[str]]], None]]) -> None:
        """Check who asks, and answer."""
        self.server.expect(self.connection, None)
        self.connection.settimeout(60)
        try:
            where = self._checked()
            route = routes.get(where)
            if route is None:
                raise RefusedError(404, "there is no such page")
            route(parse_qs(urlsplit(self.path).query, max_num_fields=20))
        except RefusedError as problem:
            self._refuse(problem)
        except OSError:
            self.close_connection = True  # the page is gone

    def _checked(self) -> str:
        """Return what a request asks for, after the token; refuse it if it does not come from the page."""
        if self.headers.get("Host", "") not in self.server.hosts:
            raise RefusedError(403, "this server answers to 127.0.0.1 only")
        origin = self.headers.get("Origin")
        if origin is not None and origin not in [f"http://{host}" for host in self.server.hosts]:
            raise RefusedError(403, "pages of other sites are not answered")
        first, _, rest = urlsplit(self.path).path.removeprefix("/").partition("/")
        if not hmac.compare_digest(first.encode("utf-8", "replace"), self.server.token.encode()):
            raise RefusedError(403, "the address needs the token that relay-explorer printed")
        return rest

    # -- what the page asks

    def _drop(self, query: Mapping[str, list[str]]) -> None:
        size = self._length()
        self.server.expect(self.connection, 30 + size / SLOWEST)
        name, folder = (query.get(key, [""])[0] for key in ("name", "folder"))
        document = self.server.documents.receive(name, size, cast(BinaryIO, self.rfile), folder)
        self.server.expect(self.connection, None)
        self._json(200, {"document": document.number, "documents": self.server.documents.public()})
        self.server.tell({"event": "documents"})

    def _show(self, query: Mapping[str, list[str]]) -> None:
        size = self._length()
        if size > MAX_JSON:
            raise RefusedError(413, "the request is too large")
        self.server.expect(self.connection, 30)
        try:
            request = json.loads(self.rfile.read(size))
        except (ValueError, RecursionError):
            raise RefusedError(400, "the request is not JSON") from None
        self.server.expect(self.connection, None)
        if not isinstance(request, dict):
            raise RefusedError(400, "the request is not an object")
        document, command = arguments(request, self.server.documents)
        self.server.tell({"event": "documents"})  # there may be a previous version now
        outcome = self.server.work.run(command, document.path.parent, self._gone)
        if outcome.view is None:
            self._json(422, {"message": outcome.message, "documents": self.server.documents.public()})
            return
        try:
            self._stream(outcome.view)
        finally:
            outcome.view.unlink(missing_ok=True)

    def _length(self) -> int:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or len(length) > 15 or self.headers.get("Transfer-Encoding"):
            raise RefusedError(411, "the request does not say how long it is")
        return int(length)

    def _gone(self) -> bool:
        """Whether the page has closed the connection: it cancelled, or was closed."""
        if self.server.stopping.is_set():
            return True
        self.connection.setblocking(False)
        try:
            return not self.connection.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True
        finally:
            self.connection.settimeout(60)

    def _events(self) -> None:
        """Send changes as they happen, until the page or the server ends."""
        listener = self.server.listen()
        try:
            self._head(200, "text/event-stream", None)
            while not self.server.stopping.is_set() and not self._gone():
                try:
                    event = listener.get(timeout=1)
                except queue.Empty:
                    continue
                if event is None:
                    return
                self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        finally:
            self.server.leave(listener)

    # -- answers

    def _head(self, status: int, kind: str, length: int | None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in SECURITY.items():
            self.send_header(name, value)
        self.end_headers()

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self._head(status, kind, len(body))
        self.wfile.write(body)

    def _json(self, status: int, value: object) -> None:
        self._send(status, "application/json", json.dumps(value).encode())

    def _stream(self, path: Path) -> None:
        self._head(200, "application/json", path.stat().st_size)
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                self.wfile.write(chunk)

    def _refuse(self, problem: RefusedError) -> None:
        self.close_connection = True
        with suppress(OSError):
            self._json(problem.status, {"message": f"error: {problem.message}"})
