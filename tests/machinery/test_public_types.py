"""A user's program against the public API, as mypy, pyright and an editor see it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import pytest

import relay_explorer
from relay_explorer.ops import NAMESPACES, builders

ROOT = Path(__file__).parents[2]
PACKAGE = Path(relay_explorer.__file__).parent
BIN = Path(sys.executable).parent

pytestmark = pytest.mark.slow

PROGRAM = (Path(__file__).parent / "user_program.py").read_text("utf-8")

# Expressions, and what the types that the checkers reveal for them contain.
SIGNATURES = {
    "relay.nn.conv2d": [
        "data: Expr", "weight: Expr", "strides: int | Sequence[int]", "padding: int | Sequence[int]",
        "groups: int", "channels: int | None", "data_layout: str", "-> Call",
    ],
    "relay.op.nn.conv2d": ["weight: Expr", "groups: int", "-> Call"],
    "relay.nn.leaky_relu": ["data: Expr | TupleWrapper | NDArray", "alpha: float", "-> Call"],
    "relay.add": ["lhs: Expr | TupleWrapper | NDArray", "rhs: Expr | TupleWrapper | NDArray", "-> Call"],
    "relay.split": ["indices_or_sections: ", "axis: int", "-> TupleWrapper"],
    "relay.var": ["name_hint: str", "shape: Sequence[object] | None", "-> Var"],
    "relay.Function": ["Function"],
    "relay.transform.FuseOps": ["FuseOps"],
    "relay.parse": ["source: str | bytes", "-> IRModule"],
    "relay.op.register": ["op_name: str", "describe: str", "-> Op"],
    "build": ["opt_level: int", "executor: str | None", "-> Executable"],
    "explore": ["view: str | Sequence[object] | None", "measure: bool", "-> Explorer"],
    "testing.generate": ["seed: int", "-> "],
    "optimized": ["IRModule"],
    "compiled": ["Executable"],
}  # fmt: skip

WRONG = [
    "relay.nn.conv2d(x, w, strid=4)",
    "relay.op.nn.conv2d(x, w, strid=4)",
    'relay.nn.conv2d(x, w, groups="two")',
    "relay.nn.leaky_relu(x, alpha=0.1, beta=2)",
    "relay.nn.conv3d_of_mine(x)",
    'relay.var(3, shape=(1,))',
    "relay.Function(x, x)",
    'relay.transform.FuseOps(max_dept=4)',
    'build(module, optlevel=3)',
    'explore(module, view=7)',
    "relay.parse(7)",
    "relay.op.register(7)",
    "relay.Tuples([x])",
]  # fmt: skip


class Report(NamedTuple):
    """What a checker says of the program: error messages and revealed types, by line."""

    errors: dict[int, list[str]]
    types: dict[int, str]


def by_mypy(folder: Path) -> Report:
    """Run mypy --strict as a user of the package would."""
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file=",
        "--cache-dir",
        str(folder / "cache"),
    ]
    command += ["--follow-imports=silent", "--output=json", "program.py"]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert not run.stderr, run.stderr
    report = Report({}, {})
    for message in map(json.loads, run.stdout.splitlines()):
        line, text = int(message["line"]), str(message["message"])
        if text.startswith("Revealed type is "):
            report.types[line] = re.sub(r"\b(?:\w+\.)+(?=[A-Z])", "", text[18:-1])  # without the modules
        elif message["severity"] == "error":
            report.errors.setdefault(line, []).append(text)
    return report


def by_pyright(folder: Path) -> Report:
    """Run pyright in its strict mode, with the package installed as a typed one."""
    command = [str(BIN / "basedpyright"), "--outputjson", "-p", str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    report = Report({}, {})
    for message in json.loads(run.stdout)["generalDiagnostics"]:
        line, text = int(message["range"]["start"]["line"]) + 1, str(message["message"])
        if message["severity"] == "information":
            report.types[line] = text.partition('" is "')[2].removesuffix('"')
        else:
            report.errors.setdefault(line, []).append(text)
    return report


CHECKERS: dict[str, Callable[[Path], Report]] = {"mypy": by_mypy, "pyright": by_pyright}


def line_of(text: str) -> int:
    """Return the number of the line of the checked program that is `text`."""
    return checked_program().splitlines().index(text) + 1


def checked_program() -> str:
    """Return the user's program, with an expression to reveal or a mistake in each line at its end."""
    lines = [f"reveal_type({expression})" for expression in SIGNATURES] + WRONG
    return PROGRAM + "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a folder with the program, and an environment in which the package is installed."""
    folder = tmp_path_factory.mktemp("user")
    (folder / "program.py").write_text(checked_program(), "utf-8")
    installed = folder / "env/lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    installed.mkdir(parents=True)
    (installed / "relay_explorer").symlink_to(PACKAGE)
    (installed / "others.pth").write_text(sysconfig.get_paths()["purelib"], "utf-8")
    settings = {"include": ["program.py"], "typeCheckingMode": "strict", "venvPath": ".", "venv": "env"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    return folder


@pytest.fixture(scope="module", params=CHECKERS)
def report(request: pytest.FixtureRequest, project: Path) -> Report:
    """Return a type checker's report of the program."""
    return CHECKERS[request.param](project)


def test_a_right_program_has_no_errors(report: Report) -> None:
    last = len(PROGRAM.splitlines()) + len(SIGNATURES)
    assert {line: text for line, text in report.errors.items() if line <= last} == {}


@pytest.mark.parametrize("expression", SIGNATURES)
def test_types_are_revealed(report: Report, expression: str) -> None:
    revealed = report.types[line_of(f"reveal_type({expression})")]
    assert [part for part in SIGNATURES[expression] if part not in revealed] == [], revealed


def test_every_builder_has_a_signature(project: Path, tmp_path: Path) -> None:
    names = [
        f"relay.{'qnn.op' if namespace == 'qnn' else namespace}.{name}".replace("..", ".")
        for namespace in NAMESPACES
        for name in builders(namespace)
    ]
    reveals = "".join(f"reveal_type({name})\n" for name in names)
    (tmp_path / "program.py").write_text(f"from relay_explorer import relay\n{reveals}", "utf-8")
    (tmp_path / "env").symlink_to(project / "env")
    (tmp_path / "pyrightconfig.json").write_bytes((project / "pyrightconfig.json").read_bytes())
    report = by_pyright(tmp_path)
    assert report.errors == {}
    assert len(names) > 200
    types = {name: report.types[line] for line, name in enumerate(names, 2)}
    assert {name: type_ for name, type_ in types.items() if type_.startswith("(...)")} == {}


@pytest.mark.parametrize("line", WRONG)
def test_mistakes_are_reported(report: Report, line: str) -> None:
    assert report.errors.get(line_of(line))


class Editor:
    """An editor's side of the language server protocol: requests, and the answers to them."""

    def __init__(self, folder: Path) -> None:
        command = [str(BIN / "basedpyright-langserver"), "--stdio"]
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.uri = (folder / "program.py").as_uri()
        self.count = 0
        folders = [{"uri": folder.as_uri(), "name": "user"}]
        self.ask("initialize", {"processId": None, "capabilities": {}, "workspaceFolders": folders})
        self.send("initialized", {})

    def open(self, text: str) -> None:
        """Open the program, with this text."""
        document = {"uri": self.uri, "languageId": "python", "version": 1, "text": text}
        self.send("textDocument/didOpen", {"textDocument": document})

    def at(self, method: str, text: str) -> Any:
        """Ask `textDocument/method` at the end of the first occurrence of `text` in the program."""
        before = checked_program().partition(text)[0] + text
        position = {"line": before.count("\n"), "character": len(before.rpartition("\n")[2])}
        return self.ask(f"textDocument/{method}", {"textDocument": {"uri": self.uri}, "position": position})

    def send(self, method: str, params: object, **fields: object) -> None:
        """Send a message."""
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **fields}).encode()
        assert self.server.stdin
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.server.stdin.flush()

    def ask(self, method: str, params: object) -> Any:
        """Send a request, and return what the server answers."""
        self.count += 1
        self.send(method, params, id=self.count)
        while True:
            message = self.receive()
            if "method" in message and "id" in message:  # the server asks for settings: there are none
                items = message["params"].get("items", []) if message.get("params") else []
                answer = {"jsonrpc": "2.0", "id": message["id"], "result": [None for _ in items]}
                self.reply(answer)
            elif message.get("id") == self.count:
                return message["result"]

    def reply(self, answer: object) -> None:
        """Answer a request of the server."""
        body = json.dumps(answer).encode()
        assert self.server.stdin
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.server.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """Read the server's next message."""
        assert self.server.stdout
        length = 0
        while line := self.server.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        message: dict[str, Any] = json.loads(self.server.stdout.read(length))
        return message


@pytest.fixture(scope="module")
def editor(project: Path) -> Iterator[Editor]:
    """An editor in which the program is open."""
    session = Editor(project)
    session.open(checked_program())
    yield session
    session.ask("shutdown", None)
    session.send("exit", None)
    session.server.communicate(timeout=30)


@pytest.mark.parametrize(
    ("text", "file", "declaration"),
    [
        ("relay.nn.conv2d", "ops/nn/convolution/", "def conv2d("),
        ("relay.nn.leaky_relu", "ops/nn/activation.py", "def leaky_relu("),
        ("relay.op.nn.dense", "ops/nn/dense.py", "def dense("),
        ("relay.transform.FuseOps", "transform/fuse_ops/", "class FuseOps("),
    ],
)
def test_an_editor_jumps_to_the_declaration(editor: Editor, text: str, file: str, declaration: str) -> None:
    (place,) = editor.at("definition", text)
    path = unquote(urlsplit(place["uri"]).path)
    assert f"relay_explorer/{file}" in path
    assert declaration in Path(path).read_text("utf-8").splitlines()[place["range"]["start"]["line"]]


def test_an_editor_completes_names(editor: Editor) -> None:
    answer = editor.at("completion", "reveal_type(relay.nn.")
    names = {item["label"] for item in answer["items"]}
    assert {"conv2d", "dense", "relu", "leaky_relu", "batch_norm"} <= names


def test_an_editor_shows_the_parameters(editor: Editor) -> None:
    answer = editor.at("signatureHelp", "relay.nn.conv2d(")
    assert "groups: int" in answer["signatures"][0]["label"]
