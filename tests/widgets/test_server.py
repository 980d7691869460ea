"""The local server: what it shows, and what it refuses."""

from __future__ import annotations

import http.client
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from relay_explorer.cli import main
from relay_explorer.ir.errors import RelayError
from relay_explorer.widgets.server import documents as documents_module
from relay_explorer.widgets.server import http as http_module
from relay_explorer.widgets.server import work as work_module
from relay_explorer.widgets.server.documents import Documents, RefusedError, clean_name
from relay_explorer.widgets.server.http import Server
from relay_explorer.widgets.server.requests import arguments
from relay_explorer.widgets.server.work import Work
from tests.support.views.check import check

PROGRAM = "def @main(%x: Tensor[(4), float32]) { exp(%x) }"


class Client:
    """A page that talks to a server."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def ask(
        self, method: str, path: str, body: bytes | None = None, token: str | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=60)
        where = f"/{self.server.token if token is None else token}/{path}"
        # A server that refuses a body may answer and close before all of it is sent.
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.request(method, where, body, {"Host": self.server.hosts[0], **headers})
        answer = connection.getresponse()
        result = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        connection.close()
        return result

    def show(self, **request: Any) -> tuple[int, dict[str, Any]]:
        status, _, body = self.ask("POST", "show", json.dumps(request).encode())
        return status, json.loads(body)

    def drop(self, name: str, body: bytes) -> int:
        status, _, answer = self.ask("POST", f"drop?name={name}", body)
        assert status == 200, answer
        return int(json.loads(answer)["document"])


def until(listener: Any, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The first event of this kind."""
    while True:
        event: dict[str, Any] = listener.get(timeout=30)
        if wanted(event):
            return event


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a program, and things that must not be listed."""
    place = tmp_path / "models"
    (place / "inner").mkdir(parents=True)
    (place / "net.relay").write_text(PROGRAM)
    (place / "inner" / "deep.relay").write_text(PROGRAM)
    (place / ".hidden.relay").write_text(PROGRAM)
    (place / "notes.md").write_text("no model")
    (tmp_path / "secret.relay").write_text(PROGRAM)
    (place / "link.relay").symlink_to(tmp_path / "secret.relay")
    (place / "out").symlink_to(tmp_path)
    return place


@pytest.fixture
def client(tmp_path: Path, folder: Path) -> Iterator[Client]:
    private = tmp_path / "private"
    private.mkdir()
    documents = Documents(private)
    documents.add(folder)
    with Server(documents, Work(private)) as server:
        threads = [
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True),
            threading.Thread(target=server.watch, daemon=True),
        ]
        for thread in threads:
            thread.start()
        yield Client(server)
        server.stop()
        server.shutdown()


def test_it_lists_a_folder_and_shows_what_changed(client: Client, folder: Path) -> None:
    names = [document.name for document in map(client.server.documents.get, (1, 2))]
    assert sorted(names) == ["inner/deep.relay", "net.relay"], "no links, no hidden files, no other files"
    number = names.index("net.relay") + 1
    status, view = client.show(document=number, view="types", options={})
    assert status == 200
    assert (view["view"], view["title"] if isinstance(view["title"], str) else "") == ("types", "net.relay")
    assert check(view) == []
    assert client.show(document=number, against="previous")[0] == 409
    listener = client.server.listen()
    (folder / "net.relay").write_text(PROGRAM.replace("exp", "log"))
    assert until(listener, lambda event: event["event"] == "changed")["document"] == number
    assert client.show(document=number, view="ir")[0] == 200
    status, view = client.show(document=number, against="previous")
    assert (status, view["view"]) == (200, "compare")
    assert "−1 × exp, +1 × log" in view["summary"]
    (folder / "new.relay").write_text(PROGRAM)
    until(listener, lambda event: "new.relay" in str(event["documents"]))
    # An error has its place and remedy; the page says them, and the next version is shown again.
    (folder / "net.relay").write_text("def @main(%x: Tensor[(4), float32]) { expp(%x) }")
    status, answer = client.show(document=number, view="ir")
    assert status == 422
    assert "net.relay:1:39" in answer["message"]
    assert "did you mean" in answer["message"]


def test_dropped_files_are_stored_apart_and_versions_compared(client: Client) -> None:
    number = client.drop("..%2F..%2Fevil.relay", PROGRAM.encode())
    document = client.server.documents.get(number)
    assert document.name == "evil.relay"
    assert document.path.parent.name == "dropped"
    options = {"passes": "FoldConstant", "args": "5", "kernel": "--output=/tmp/x"}
    status, view = client.show(document=number, view="pipeline", options=options)
    assert (status, view["view"]) == (200, "pipeline")
    assert client.drop("evil.relay", PROGRAM.replace("exp", "tanh").encode()) == number
    assert client.show(document=number, view="ir")[0] == 200
    assert "tanh" in client.show(document=number, against="previous")[1]["summary"]
    assert "same program" in client.show(document=number, against=number)[1]["summary"]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("model.pt", pickle.dumps(print), "reading it could execute any code"),
        ("module.py", b"from tvm.script import relax\n@I.ir_module\nclass M: pass", "cannot be read yet"),
        ("-", b"{ broken", "error"),
        ("numpy.py", b"print('run' + 'ning', file=__import__('sys').stderr)", "error"),
    ],
)  # fmt: skip
def test_what_cannot_be_opened_says_why(client: Client, name: str, content: bytes, reason: str) -> None:
    number = client.drop(name, content)
    status, answer = client.show(document=number, view="ir")
    assert (status, reason in answer["message"]) == (422, True), answer
    assert "Traceback" not in answer["message"]
    assert "running" not in answer["message"]
    assert str(client.server.documents.get(number).path.parent) not in answer["message"]


@pytest.mark.parametrize("path", ["", "show", "drop?name=a", "events", "documents", "relay_explorer.js"])
def test_every_request_needs_token_host_and_origin(client: Client, path: str) -> None:
    method = "POST" if path.startswith(("show", "drop")) else "GET"
    host = client.server.hosts[0]
    for token in ("", "x", client.server.token[:-1], client.server.token + "x"):
        assert client.ask(method, path, b"{}", token)[0] == 403
    for headers in (
        {"Host": "evil.example"},
        {"Host": f"evil.example:{client.server.server_port}"},
        {"Host": host, "Origin": "https://evil.example"},
        {"Host": host, "Origin": "null"},
    ):
        status, answered, body = client.ask(method, path, b"{}", **headers)
        assert status == 403
        assert client.server.token.encode() not in body
        assert "access-control-allow-origin" not in answered


def test_pages_have_a_policy_and_paths_lead_nowhere(client: Client) -> None:
    status, headers, body = client.ask("GET", "")
    assert status == 200
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe-eval" not in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert client.server.token.encode() not in body
    for path in (
        "../../etc/passwd",
        "%2e%2e/secret.relay",
        "//etc/passwd",
        "server.js/../page.py",
        "dropped/x",
    ):
        assert client.ask("GET", path)[0] == 404
    assert client.ask("PUT", "show", b"{}")[0] == 501


def test_requests_are_bounded(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents_module, "MAX_UPLOAD", 1000)
    assert client.ask("POST", "drop?name=a", bytes(1001))[0] == 413
    assert client.ask("POST", "show", bytes(http_module.MAX_JSON + 1))[0] == 413
    for body in (b"[]", b"{", b'{"document": true}', b'{"document": "../x"}', b"[" * 100_000):
        assert client.ask("POST", "show", body)[0] == 400
    assert client.ask("POST", "show", b'{"document": 99, "view": "ir"}')[0] == 404
    assert client.ask("POST", "show", b'{"document": 1, "view": "nothing"}')[0] == 400
    assert client.ask("POST", "drop", b"x")[0] == 400, "no name"
    with socket.create_connection(("127.0.0.1", client.server.server_port)) as raw:
        raw.sendall(f"POST /{client.server.token}/drop?name=a HTTP/1.1\r\nHost: {client.server.hosts[0]}\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n".encode())  # fmt: skip
        assert b" 411 " in raw.recv(200)


def test_slow_connections_are_closed_and_their_number_is_bounded(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_module, "HEADERS_SECONDS", 0.3)
    address = ("127.0.0.1", client.server.server_port)
    with socket.create_connection(address) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\n")
        slow.settimeout(10)
        assert slow.recv(1) == b"", "closed by the server"
    monkeypatch.setattr(http_module, "HEADERS_SECONDS", 30)
    monkeypatch.setattr(http_module, "MAX_CONNECTIONS", 3)
    connections = [socket.create_connection(address) for _ in range(6)]
    for connection in connections:
        connection.settimeout(10)
    assert connections[-1].recv(1) == b"", "one too many"
    for connection in connections:
        connection.close()


def test_a_stuck_model_is_stopped_and_blocks_nobody(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client.server.work, "_seconds", 0.5)

    class Asleep(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, command: list[str], **options: Any) -> None:
            super().__init__(["/bin/sleep", "60"], **options)

    monkeypatch.setattr(subprocess, "Popen", Asleep)
    status, answer = client.show(document=1, view="ir")
    assert status == 422
    assert "so it was stopped: `serve --timeout SECONDS` allows more" in answer["message"]
    # A page that goes away ends its work.
    monkeypatch.setattr(client.server.work, "_seconds", 60)
    body = b'{"document": 1, "view": "ir"}'
    head = f"POST /{client.server.token}/show HTTP/1.1\r\nHost: {client.server.hosts[0]}\r\n"
    raw = socket.create_connection(("127.0.0.1", client.server.server_port))
    raw.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    while not client.server.work._turn.locked():
        time.sleep(0.01)
    assert client.ask("GET", "documents")[0] == 200, "the page is answered meanwhile"
    raw.close()
    monkeypatch.undo()
    assert client.show(document=1, view="ir")[0] == 200


def test_the_memory_of_a_view_is_bounded(tmp_path: Path, client: Client) -> None:
    """The child process has the limit, and says what to do about it."""
    code = (
        "import sys; from relay_explorer.cli import limited\n"
        "limited.main = lambda arguments: bytearray(2 << 30) and 0\n"
        "sys.exit(limited.run(1 << 30, []))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (
        1, "error: this needs more than 1 GB of memory: `serve --memory GB` allows more\n",
    )  # fmt: skip
    (tmp_path / "models" / "large.relay").write_text(
        'def @main() { zeros(shape=[60000, 60000], dtype="float32") }'
    )
    client.server.work._memory = 1 << 30
    client.server.documents.changed()
    number = next(d["number"] for d in client.server.documents.public() if d["name"] == "large.relay")
    status, view = client.show(document=number, view="evaluation")
    assert status == 200
    assert "the result is larger than the memory" in view["summary"]


def test_a_message_begins_with_the_error(tmp_path: Path) -> None:
    errors = tmp_path / "errors.txt"
    errors.write_text(
        "WARNING: logs of a framework\nI0000 port.cc\n./a b.relay:1:3: error: no\n  1 | error: x\n"
    )
    assert work_module._message(errors, 1) == "./a b.relay:1:3: error: no\n  1 | error: x"
    errors.write_text("Killed")
    assert work_module._message(errors, 1) == "Killed"
    errors.write_text("")
    assert "was ended by signal 9" in work_module._message(errors, -9)


def test_a_folder_is_dropped_with_its_names(client: Client) -> None:
    numbers = []
    for folder in ("nets", "nets/inner", "..%2F..%2F%2Fnets%5Cinner%2F", "a/b/c/d/e"):
        status, _, answer = client.ask("POST", f"drop?name=x.relay&folder={folder}", PROGRAM.encode())
        assert status == 200, answer
        numbers.append(json.loads(answer)["document"])
    documents = [client.server.documents.get(number) for number in numbers]
    assert [document.name for document in documents] == [
        "nets/x.relay", "nets/inner/x.relay", "nets/inner/x.relay", "a/b/c/x.relay",
    ]  # fmt: skip
    assert documents[2].version == 2
    for document in documents:
        assert document.path.parts[-1 - document.name.count("/") - 1] == "dropped"
    assert client.show(document=numbers[1], view="ir")[0] == 200
    assert client.ask("POST", "drop?name=nets", b"x")[0] == 409
    assert client.ask("POST", "drop?name=y&folder=nets/x.relay", b"x")[0] == 409


def test_names_and_options_cannot_pass_for_others(tmp_path: Path) -> None:
    names = ["a/b/c.relay", "..\\..\\c.relay", "c.relay\r\nX: y", "\u202ec.relay", "C:\\c.relay"]
    assert [clean_name(name)[:7] for name in names] == ["c.relay"] * 5
    for name in ("", "..", "/", "\0"):
        with pytest.raises(RefusedError):
            clean_name(name)
    documents = Documents(tmp_path)
    (tmp_path / "-o.relay").write_text(PROGRAM)
    documents.add(tmp_path / "-o.relay")
    request = {
        "document": 1,
        "view": "pipeline",
        "options": {"passes": "--output=x", "shape": "-o y\n--json"},
    }
    _, command = arguments(request, documents)
    assert command == [
        "./-o.relay", "--title=-o.relay", "--shape=-o y", "--shape=--json", "--view=pipeline",
        "--passes=--output=x",
    ]  # fmt: skip
    with pytest.raises(RelayError, match="there is no file"):
        documents.add(tmp_path / "missing.onnx")


def test_the_command_prints_its_address_and_stops_at_once(tmp_path: Path) -> None:
    (tmp_path / "net.relay").write_text(PROGRAM)
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "relay_explorer", "serve", str(tmp_path / "net.relay"), "--no-open"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().decode().strip()
        assert address.startswith("http://127.0.0.1:")
        port = int(address.split(":")[2].split("/")[0])
        events = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        events.request("GET", "/" + address.split("/", 3)[3] + "events")
        assert events.getresponse().status == 200, "an open connection"
        assert len(list(tmp_path.glob("relay-explorer-*"))) == 1
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert time.monotonic() - started < 5
    assert list(tmp_path.glob("relay-explorer-*")) == [], "the copies are deleted"


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--port", "70000", "`70000` is not a port from 0 to 65,535"),
        ("--port", "http", "`http` is not a port from 0 to 65,535"),
        ("--timeout", "0", "`0` is not a time in seconds from 1 to 1,000,000"),
        ("--memory", "nan", "`nan` is not an amount of memory in gigabytes from 1 to 1,000,000"),
    ],
)
def test_a_wrong_number_is_refused(
    option: str, value: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["serve", option, value])
    assert message in capsys.readouterr().err
