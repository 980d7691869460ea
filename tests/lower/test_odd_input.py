"""What nobody should give: it ends in an error that says what is wrong, and leaves everything as it was."""

from __future__ import annotations

import json
import os
import random
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import relay_explorer
from relay_explorer import relay
from relay_explorer.compat.libraries import load_module
from relay_explorer.ir import Function
from relay_explorer.ir.errors import RelayError
from relay_explorer.lower.cache import store as cache
from relay_explorer.lower.runtime.executable import Executable
from relay_explorer.lower.targets.target import Target

X = np.arange(6, dtype="float32").reshape(2, 3)
COMPILED = ("graph", "vm", "aot")


class Refusing:
    """Something that looks like an array, and fails in its own way."""

    def __dlpack__(self, **options: object) -> object:
        raise ZeroDivisionError("no memory of mine")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


class Odd:
    def __array__(self, *args: object, **named: object) -> Any:
        raise LookupError("none here")


def build(executor: str) -> Executable:
    x = relay.var("x", shape=(2, 3))
    return relay_explorer.build(Function([x], relay.nn.relu(x) + x), executor=executor)


@pytest.fixture(scope="module")
def exes() -> dict[str, Executable]:
    return {executor: build(executor) for executor in (*COMPILED, "interpreter")}


@pytest.mark.parametrize("executor", [*COMPILED, "interpreter"])
def test_arguments_of_other_libraries(exes: dict[str, Executable], executor: str) -> None:
    exe = exes[executor]
    for given, text in (
        (Refusing(), "`%x`, a Refusing, cannot be read by DLPack\nhelp: no memory of mine"),
        (Odd(), "a Odd cannot be an argument"),
        (np.ma.masked_array(X, X > 2), "a masked array with missing values\nhelp: replace them"),
    ):
        with pytest.raises(RelayError) as caught:
            exe(given)
        assert text in str(caught.value)
    for array in (X.view(np.matrix), np.ma.masked_array(X), X.astype(">f4")):
        result = exe(array)
        assert type(result) is np.ndarray
        np.testing.assert_array_equal(result, 2 * X)


@pytest.mark.parametrize("executor", [*COMPILED, "interpreter"])
@pytest.mark.parametrize("repeat", [-1, "3", None, 1.5])
def test_how_often(exes: dict[str, Executable], executor: str, repeat: Any) -> None:
    with pytest.raises(RelayError, match="`repeat` must be a count, 0 or more, not"):
        exes[executor].time(X, repeat=repeat)


@pytest.mark.parametrize("given", [None, "X", [1.0], 3, Refusing()])
def test_a_kernel_called_by_hand(exes: dict[str, Executable], given: Any) -> None:
    (kernel,) = exes["graph"].kernels
    with pytest.raises(RelayError, match=r"got (a NoneType|a str|a list|int32\[\])|by DLPack"):
        kernel(given)
    np.testing.assert_array_equal(kernel(X.astype(">f4")), 2 * X)


# -- files


@pytest.mark.parametrize("executor", COMPILED)
def test_paths_that_are_none(exes: dict[str, Executable], executor: str, tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    queue = tmp_path / "queue"
    os.mkfifo(queue)
    for path, text in (
        (None, "a path is a string or a pathlib.Path, not a value of type NoneType"),
        (3, "not a value of type int"), ("", "'' is not the path"), ("a\0b", "is not the path of a file"),
        ("/", "Is a directory"), (tmp_path / "no" / "such", "No such file"), (loop, "[Ss]ymlink|[Ss]ymbolic"),
        (queue, "it is not a regular file"), (tmp_path / ("n" * 300), "File name too long"),
    ):  # fmt: skip
        with pytest.raises(RelayError, match=text):
            exes[executor].save(path)
    assert stat.S_ISFIFO(queue.stat().st_mode)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loop", "queue"]
    with pytest.raises(RelayError, match="a path is a string"):
        relay_explorer.load(None)


@pytest.mark.parametrize("executor", COMPILED)
def test_a_file_that_was_changed(exes: dict[str, Executable], executor: str, tmp_path: Path) -> None:
    """Wherever a byte is another one, or the end is missing: it is loaded and right, or refused."""
    path, link = tmp_path / "π a file", tmp_path / "link"
    link.symlink_to(path)
    exes[executor].save(link)
    assert link.is_symlink()
    whole = path.read_bytes()
    np.testing.assert_array_equal(relay_explorer.load(link)(X), 2 * X)
    old: Any = load_module(link)["default"]()  # as old code loads it
    old.run(x=X)
    np.testing.assert_array_equal(old.get_output(0).numpy(), 2 * X)
    choose = random.Random(executor)
    loaded = 0
    for turn in range(60):
        data = bytearray(whole)
        begin = len(data) - 3000 if turn % 2 else 0  # there stand an archive's names, and a description
        data[choose.randrange(max(0, begin), len(data))] ^= 1 << choose.randrange(8)
        path.write_bytes(data if turn % 5 else data[: choose.randrange(len(data))])
        try:
            exe = relay_explorer.load(path)
        except RelayError:
            continue
        loaded += 1
        np.testing.assert_array_equal(exe(X), 2 * X)
    assert loaded < 30


def test_an_entry_of_the_cache_that_was_changed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What it says of sizes is as important as the code."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    name = "0" * 40
    cache.put(name, b"library", ".so", {"rule": "x", "sizes": [[2, 3]]})
    (entry,) = tmp_path.glob("*/*.json")
    assert cache.get(name) is not None
    message = json.loads(entry.read_text())
    for other in (json.dumps({**message, "sizes": [[200, 3]]}), "[" * 100_000, "[]", "\xff"):
        entry.write_text(other, "latin-1")
        assert cache.get(name) is None


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in (cache.VARIABLE, "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)

    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", home)
    with pytest.raises(RelayError, match=r"there is no home folder .*\nhelp: set the environment variable R"):
        cache.folder()


def test_a_library_that_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As where nothing in a folder may be run."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    exe = build("graph")
    for library in tmp_path.glob("*/*.so"):
        library.write_bytes(library.read_bytes()[:100])
    with pytest.raises(
        RelayError, match=r"of the kernel `fused_\w+` cannot be loaded: .*\nhelp: if programs"
    ):
        exe(X)


SILENT = """
import sys, numpy, relay_explorer
from relay_explorer import relay
x = relay.var("x", shape=(2, 3))
exe = relay_explorer.build(relay.Function([x], relay.nn.relu(x) + x))
open(sys.argv[1], "w").write(f"{sys.stderr} {exe(numpy.ones((2, 3), 'float32')).sum()}")
"""


def test_a_process_without_a_terminal(tmp_path: Path) -> None:
    """As a service has none: nothing is written to it, nor read."""
    environment = {**os.environ, cache.VARIABLE: str(tmp_path), "RELAY_EXPLORER_QUIET": ""}
    command = ["bash", "-c", 'exec <&- >&- 2>&- && exec "$@"', "bash", sys.executable, "-c", SILENT]
    subprocess.run([*command, str(tmp_path / "found")], env=environment, timeout=120, check=True)
    assert (tmp_path / "found").read_text() == "None 12.0"


# -- targets


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("gpu", "did you mean 'cuda'?"), ("CPU", "did you mean 'cpu'?"),
        ("opencl", "there are no schedules for targets of the kind 'opencl'"),
        ({"kind": "vulkan"}, "there are no schedules for targets of the kind 'vulkan'"),
        ({"kind": "llvm", "num-cores": 0}, "a target must have at least 1 core, not 0"),
        ({"kind": "llvm", "num-cores": True}, "a target must have at least 1 core, not True"),
        ({"kind": "llvm", "mattr": ["avx2"]}, r"enabled by `\+name` and disabled by `-name`, not by 'avx2'"),
        ({"kind": "llvm", "mattr": [""]}, "not by ''"),
    ],
)  # fmt: skip
def test_targets_that_are_none(target: object, message: str) -> None:
    with pytest.raises(RelayError, match=message):
        Target.of(target)


def test_names_of_this_machine() -> None:
    here = Target.of("cpu")
    for name in (" cpu ", {"kind": "llvm", "mcpu": "native"}, "llvm -mcpu=native -mattr=,"):
        assert Target.of(name).dict["mcpu"] == here.dict["mcpu"]
    assert "mcpu" not in Target.of({"kind": "llvm", "mcpu": ""}).dict
    machine = "aarch64" if here.kind == "arm64" else "x86_64"
    for system, runs in (("linux-gnu", True), ("pc-windows-msvc", False), ("apple-macos", False)):
        assert Target.of({"kind": "llvm", "mtriple": f"{machine}-{system}"}).runs_here is runs


# -- programs


def test_a_constant_for_a_parameter_of_any_type() -> None:
    """A parameter that is the same constant in every call becomes it, unless its type says more."""
    text = """
    def @first[A, B](%x: A, %y: B) -> A { %x }
    def @rows(%x: Tensor[(?, 2), float32], %n: int32) -> Tensor[(?, 2), float32] {
      if (%n == 0) { %x } else { @rows(%x, %n - 1) }
    }
    def @main(%n: int32) { (@first(False, 1), @rows(DATA, %n)) }
    """
    data = 'ones(shape=[3, 2], dtype="float32")'
    module = relay.parse(text.replace("DATA", data))
    for executor in ("vm", "aot"):
        result: Callable[..., Any] = relay_explorer.build(module, executor=executor)
        truth, rows = result(2)
        assert not truth
        assert rows.tolist() == [[1, 1]] * 3


@pytest.mark.parametrize("executor", COMPILED)
def test_sizes_beyond_every_number(executor: str) -> None:
    """2 ** 64 elements are none where numbers have 64 bits: nothing is written to that."""
    y = relay.var("y", shape=())
    longest = 2**31 - 1
    whole = relay.annotation.stop_fusion(relay.broadcast_to(y, (2**30, 2**30, 16)))
    with pytest.raises(RelayError, match="out of memory for a tensor of 18,446,744,073,709,551,616 ele"):
        relay_explorer.build(Function([y], whole), executor=executor)
    with pytest.raises(RelayError, match="an axis of 2,147,483,648 elements is too long"):
        relay_explorer.build(
            Function([y], relay.exp(relay.broadcast_to(y, (longest + 1,)))), executor=executor
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"params": [("x", X)]}, "`params` must map names to values, not be a value of type list"),
        ({"params": {"x": torch.ones(2, 3, requires_grad=True)}}, "not a tensor, .*\nhelp: Can't call numpy"),
        ({"opt_level": np.array([1, 2])}, "the optimization level must be 0 to 4, not array"),
        ({"executor": "aot", "name": None}, "None cannot be the beginning of names in C"),
        ({"executor": "aot", "name": "n" * 300}, "cannot be the beginning of names in C"),
    ],
)
def test_options_that_are_none(options: dict[str, Any], message: str) -> None:
    x = relay.var("x", shape=(2, 3))
    with pytest.raises(RelayError, match=message):
        relay_explorer.build(Function([x], relay.nn.relu(x)), **options)


@pytest.mark.parametrize("dtype", ["int4", "float32x4", "handle"])
def test_elements_that_nothing_computes_with(dtype: str) -> None:
    x = relay.var("x", shape=(2,), dtype=dtype)
    with pytest.raises(RelayError, match=f"`%x` is of `{dtype}`, which kernels do not support"):
        relay_explorer.build(Function([x], x + x))
