"""Values on their way into native programs and out of them, and programs that were saved as libraries."""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relay_explorer
from relay_explorer import relay
from relay_explorer.execute.results import ConstructorValue, RefValue
from relay_explorer.ir import IRModule
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.narrow import as_constructor
from relay_explorer.lower.build import build_native
from relay_explorer.lower.link.native import NativeExecutable
from relay_explorer.lower.saving.native import _END
from relay_explorer.lower.threads import VARIABLE

MANY = """
type Box[a] { Empty, Box(a, Box[a]), }
type Many { Many(Box[int32], Box[Tensor[(3), float64]], (bool, Tensor[(40, 40), float32]), ref(int8)), }
"""


def boxed(module: IRModule, items: list[Any], empty: Any = None) -> Any:
    _, nil, cons = module.get_type("Box")
    result = empty or ConstructorValue(as_constructor(nil).tag, [], as_constructor(nil))
    for item in reversed(items):
        result = ConstructorValue(as_constructor(cons).tag, [item, result], as_constructor(cons))
    return result


def many(module: IRModule) -> tuple[Any, Any]:
    """Build a value, and an empty list that occurs in it twice, with two types."""
    empty = boxed(module, [])
    numbers = [np.array(n, "int32") for n in range(300)]
    rows = [np.arange(3.0)[::-1], np.ones(3), np.ones(3)]
    large = np.arange(1600, dtype="float32").reshape(40, 40).T
    pair = (np.array(True), large)
    result = module.get_type("Many")[1]
    cell = RefValue(np.array(7, "int8"))
    value = ConstructorValue(
        as_constructor(result).tag,
        [boxed(module, numbers, empty), boxed(module, rows, empty), pair, cell],
        as_constructor(result),
    )
    return value, large


@pytest.fixture(scope="module")
def echo() -> NativeExecutable:
    text = MANY + (
        "def @main(%m: Many, %twice: (Many, Many), %n: Tensor[(?, 2), uint8])"
        " { (%m, %twice.1, %n, ref(%twice.0)) }"
    )
    return build_native(relay.parse(text))


def test_values_come_out_as_they_went_in(echo: NativeExecutable) -> None:
    """Small and large, in other orders of memory, shared, and one value as two types."""
    value, large = many(echo.mod)
    for number in (np.arange(6, dtype="uint8").reshape(3, 2), np.zeros((0, 2), "uint8")):
        first, second, last, cell = echo(value, (value, value), number)
        np.testing.assert_array_equal(last, number)
        assert last.flags.writeable
        assert second.inner is cell.value.inner  # it went in once
        for result in (first, second):
            assert repr(result) == repr(value)
            np.testing.assert_array_equal(result.fields[2][1].numpy(), large)
            assert result.fields[3].value.numpy() == 7
        assert echo.library.live == 0


def test_an_argument_of_the_wrong_type_goes_nowhere(echo: NativeExecutable) -> None:
    value, _ = many(echo.mod)
    fields = value.inner.fields
    rows, result = np.zeros((1, 2), "uint8"), value.constructor
    wrong = [
        (0, boxed(echo.mod, [np.array(1, "int64")]), "a part of the argument `%m` must be `int32`"),
        (0, fields[1], "a part of the argument `%m` must be `int32`"),
        (1, fields[0], r"a part of the argument `%m` must be `Tensor\[\(3\), float64\]`"),
        (2, (np.array(True),), "a part of the argument `%m` must be `(bool, "),
        (3, np.array(7, "int8"), r"a part of the argument `%m` must be `ref\(int8\)`"),
    ]
    for place, part, message in wrong:
        parts = [part if k == place else field for k, field in enumerate(fields)]
        given = ConstructorValue(as_constructor(result).tag, parts, as_constructor(result))
        with pytest.raises(RelayError, match=message.replace("(bool", r"\(bool")):
            echo(given, (value, value), rows)
    with pytest.raises(RelayError, match="`%m` must be `Many`, but is `Tensor"):
        echo(rows, (value, value), rows)
    with pytest.raises(RelayError, match="expects 3 arguments, got 1"):
        echo(value)
    assert echo.library.live == 0


def test_a_product_on_several_threads() -> None:
    """On more than there are processors. Each run wakes them anew, or finds them awake; they go with the
    program.
    """
    program = """
import gc, pathlib, time, numpy as np, relay_explorer
from relay_explorer import relay
w, x = np.random.rand(999, 333).astype("float32"), np.random.rand(1, 333).astype("float32")
module = relay.parse("def @main(%x: Tensor[(1, 333), float32], %w: Tensor[(999, 333), float32])"
                     " { nn.dense(%x, %w) }")
exe = relay_explorer.build(module, params={"w": w}, executor="aot", quiet=True)
for turn in range(300):
    np.testing.assert_allclose(exe(x + turn), (x + turn) @ w.T, 1e-4)
    if turn % 100 == 0:
        time.sleep(0.01)
assert "parallel" in exe.kernels[0].source("scheduled")
tasks, maps = pathlib.Path("/proc/self/task"), pathlib.Path("/proc/self/maps")
threads = len(list(tasks.iterdir()))
assert "libprogram" in maps.read_text()
del exe
gc.collect()
assert "libprogram" not in maps.read_text()
assert len(list(tasks.iterdir())) == threads - 4
"""
    command = [sys.executable, "-c", program]
    env = {**os.environ, VARIABLE: "5", "PYTHONPATH": "."}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")


LIST = "type List { Nil, Cons(Tensor[(2), float32], List), }\n"
SUM = (
    LIST
    + "def @sum(%l: List, %s: Tensor[(2), float32]) -> Tensor[(2), float32] {"
    + " match (%l) { Nil => { %s }, Cons(%x, %r) => { @sum(%r, %s + %x) }, } }\n"
    + "def @main(%l: List, %s: Tensor[(2), float32]) { (@sum(%l, %s), %l) }"
)


def items(module: IRModule) -> Any:
    nil, cons = module.get_type("List")[1:]
    result = ConstructorValue(as_constructor(nil).tag, [], as_constructor(nil))
    for k in range(3):
        result = ConstructorValue(
            as_constructor(cons).tag, [np.array([k, 1], "float32"), result], as_constructor(cons)
        )
    return result


def test_a_saved_library_is_loaded_without_tvm(tmp_path: Path) -> None:
    path = tmp_path / "libsum.so"
    exe = relay_explorer.build(relay.parse(SUM), executor="aot", name="sum", quiet=True)
    exe.save(path)
    program = f"""
import sys, numpy as np, relay_explorer
from relay_explorer import relay
from tests.lower.test_native_values import SUM, items
exe = relay_explorer.load({str(path)!r})
total, same = exe(items(relay.parse(SUM)), s=np.float32([10, 20]))
print(exe, exe.inputs[1].type, total, same, exe.library.live, exe.time(same, total) > 0)
exe.save({str(tmp_path / "again.so")!r})
print("sum_Cons" in exe.header, any(name.split(".")[0] == "tvm" for name in sys.modules))
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stderr == ""
    message, rest = done.stdout.splitlines()
    assert "(%l: List, %s: Tensor[(2), float32]), loaded>" in message
    assert message.endswith(
        "Tensor[(2), float32] [13. 23.] Cons([2.0, 1.0], Cons([1.0, 1.0], Cons([0.0, 1.0], Nil))) 0 True"
    )
    assert rest == "True False"
    assert (tmp_path / "again.so").read_bytes() == path.read_bytes()


def test_a_library_that_is_loaded_can_be_written_anew(tmp_path: Path) -> None:
    path, loaded = tmp_path / "libsame.so", []
    for name in ("tanh", "exp"):
        result = relay_explorer.build(
            relay.parse(f"def @main(%x: float32) {{ {name}(%x) }}"), executor="aot", quiet=True
        )
        result.save(path)
        loaded.append(relay_explorer.load(path))
    for exe, expected in zip(loaded, (np.tanh(1), np.exp(1))):
        np.testing.assert_allclose(exe(1.0), expected, 1e-6)
    with pytest.raises(RelayError, match="a saved library does not read the clock between its kernels"):
        loaded[0].profile(1.0)
    assert [file.name for file in tmp_path.iterdir()] == ["libsame.so"]
    with pytest.raises(RelayError, match=r"cannot be saved as .*: No such file or directory"):
        result.save(tmp_path / "nowhere" / "libsame.so")


def test_a_library_that_is_not_ours_or_was_changed(tmp_path: Path) -> None:
    path = tmp_path / "libsum.so"
    exe = relay_explorer.build(relay.parse("def @main(%x: float32) { tanh(%x) }"), executor="aot", quiet=True)
    exe.save(path)
    whole = path.read_bytes()

    def message(data: bytes) -> str:
        path.write_bytes(data)
        with pytest.raises(RelayError) as caught:
            relay_explorer.load(path)
        return str(caught.value)

    assert "is a library, but not a complete program that this package saved" in message(whole[:-1])
    assert "was changed after it was saved" in message(whole[:5000] + b"!" + whole[5001:])
    for report, printed in (
        (b'"machine": "s390x"', "was built for s390x, and this machine is "),
        (b'"features": ["avx1024"], ', ", which has no avx1024"),
    ):
        length, _, mark = _END.unpack(whole[-_END.size :])
        text = whole[-_END.size - length : -_END.size]
        before, _, after = text.partition(report.partition(b": ")[0])
        rest = after[after.index(b", ") if b"machine" in report else after.index(b"], ") + 3 :]
        changed = before + report + rest
        end = _END.pack(len(changed), sha256(changed).digest(), mark)
        assert printed in message(whole[: -_END.size - length] + changed + end)


def test_an_executor_that_compiles_ahead_of_time() -> None:
    module = relay.parse(SUM)
    run = relay.create_executor("aot", mod=module).evaluate()
    total, same = run(items(module), np.array([10, 20], "float32"))
    assert repr(same) == "Cons([2.0, 1.0], Cons([1.0, 1.0], Cons([0.0, 1.0], Nil)))"
    np.testing.assert_array_equal(total.numpy(), [13, 23])
    with pytest.raises(RelayError, match="must be `List`, but "):
        run(total, total)


def test_kernels_of_symbolic_sizes_are_linked_and_saved(tmp_path: Path) -> None:
    rows = "Tensor[(n, 2), float32]"
    exe = relay_explorer.build(
        relay.parse(f"def @main(%x: {rows}, %y: {rows}) {{ exp(add(%x, %y)) }}"), executor="aot", quiet=True
    )
    exe.save(tmp_path / "sum.so")
    for rows_given in (1, 3):
        x = np.ones((rows_given, 2), "float32")
        for program in (exe, relay_explorer.load(tmp_path / "sum.so")):
            np.testing.assert_allclose(program(x, x), np.exp(2 * x), rtol=1e-6)
