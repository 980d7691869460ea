"""Whatever goes in: every executor answers, or says what is wrong."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import relay_explorer
from relay_explorer import relay
from relay_explorer.execute.aot.shape_constraints import shape_constraints
from relay_explorer.ir import Function
from relay_explorer.ir.errors import RelayError
from relay_explorer.lower.cache import pruning
from relay_explorer.lower.cache import store as cache
from relay_explorer.typing import infer_types

EXECUTORS = ("graph", "vm", "aot", "interpreter")
X = np.arange(6, dtype="float32").reshape(2, 3)


def build(body: Any, *params: Any, executor: str = "graph", **options: Any) -> Any:
    return relay_explorer.build(Function(list(params), body), executor=executor, **options)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_wrong_argument_is_named(executor: str) -> None:
    x, n = relay.var("x", shape=(2, 3)), relay.var("n", shape=(), dtype="int8")
    exe = build(relay.Tuple([relay.nn.relu(x), n + n]), x, n, executor=executor)
    for args, text in (
        ((X,), "the program expects 2 arguments, got 1\nhelp: they are `%x: Tensor[(2, 3), float32]`"),
        ((X.T, 1), "%x` must be `Tensor[(2, 3), float32]`, but is `Tensor[(3, 2), float32]`\nhelp: give it"),
        ((X > 1, 1), "but is `Tensor[(2, 3), bool]`\nhelp: convert it: .astype"),
        ((X, 1000), "the argument `%n` must be `int8`, but is `int64`"),
        ((X, 2.5), "the argument `%n` must be `int8`, but is `float32`"),
        ((X, 1 << 99), "an argument is an integer of 100 bits"),
        ((torch.ones(2, 3, requires_grad=True), 1), "`%x`, a Tensor, cannot be read by DLPack\nhelp: Can't"),
        ((None, 1), "a NoneType cannot be an argument"),
    ):
        with pytest.raises(RelayError) as caught:
            exe(*args)
        assert text in str(caught.value)
    readonly = np.frombuffer(X.tobytes(), "float32").reshape(2, 3)
    for given in (readonly, X[::-1, ::-1], np.asfortranarray(X), torch.tensor(X)):
        np.testing.assert_array_equal(np.asarray(exe(given, 3)[0]), np.asarray(given))


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_number_that_a_float32_cannot_hold(executor: str) -> None:
    x = relay.var("x", shape=())
    exe = build(x + x, x, executor=executor)
    with pytest.raises(RelayError, match=r"an argument is 1\.0e\+300, too large for a float32"):
        exe(1e300)
    assert np.asarray(exe(float("inf"))) == np.inf


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("level", [0, 3])
def test_bfloat16(executor: str, level: int) -> None:
    """NumPy has none: values come out as float32, and parameters are of other types."""
    x = relay.var("x", shape=(2, 3))
    narrow = relay.cast(x, "bfloat16")
    doubled = relay.annotation.stop_fusion(narrow + narrow)
    exe = build(relay.Tuple([doubled, relay.cast(relay.exp(doubled), "float32")]), x, executor=executor,
                opt_level=level)  # fmt: skip
    given = np.linspace(0.1, 3, 6, dtype="float32").reshape(2, 3)
    result, powers = map(np.asarray, exe(given))
    assert result.dtype == powers.dtype == "float32"
    expected = 2 * (torch.tensor(given).to(torch.bfloat16).float().numpy())
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_allclose(powers, np.exp(expected), rtol=1 / 128)
    y = relay.var("y", shape=(2,), dtype="bfloat16")
    with pytest.raises(RelayError, match="NumPy has no bfloat16: take a float32, and"):
        build(y + y, y, executor=executor)(np.ones(2, "float32"))


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_tensor_that_no_memory_holds(executor: str) -> None:
    y = relay.var("y", shape=())
    exe = build(relay.annotation.stop_fusion(relay.broadcast_to(y, (10**5, 10**8))), y, executor=executor)
    with pytest.raises(
        RelayError, match=r"cannot be allocated|out of memory|larger than the memory|no memory"
    ):
        exe(1.0)
    with pytest.raises(RelayError, match="memory"):
        build(relay.broadcast_to(y, (10**6, 10**9)), y, executor=executor)(1.0)


@pytest.mark.parametrize("name", ["a b", "*/", '"', "\\", "a\nb", "int", "π", ""])
def test_names_that_are_none_in_c(name: str) -> None:
    x = relay.var(name, shape=(2, 3))
    assert build(relay.nn.relu(x), x, executor="aot").run(**{name: X}).sum() == 15


def test_five_thousand_parameters() -> None:
    params = [relay.var(f"p{k}", shape=()) for k in range(5000)]
    result = build(relay.Tuple(params[::-1]), *params)(*map(float, range(5000)))
    assert [int(value) for value in result] == list(range(4999, -1, -1))


@pytest.mark.parametrize("executor", ["graph", "vm"])
def test_threads_and_forked_processes(executor: str) -> None:
    """TVM's own threads do not come along into a forked process."""
    x = relay.var("x", shape=(256, 256))
    exe = build(relay.nn.softmax(relay.nn.dense(x, x)), x, executor=executor)
    given = [np.random.default_rng(k).normal(size=(256, 256)).astype("float32") for k in range(2)]
    expected = [exe(array) for array in given]
    wrong: list[int] = []

    def compare(k: int) -> None:
        if not all(np.array_equal(exe(given[k]), expected[k]) for _ in range(10)):
            wrong.append(k)

    both = [threading.Thread(target=compare, args=(k,)) for k in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert wrong == []
    context = multiprocessing.get_context("fork")
    child = context.Process(target=lambda: os._exit(0 if np.array_equal(exe(given[0]), expected[0]) else 1))
    child.start()
    child.join(60)
    if child.exitcode is None:
        child.kill()
    assert child.exitcode == 0


SCRIPT = """
import relay_explorer
from relay_explorer import relay
x = relay.var("x", shape=(2, 3))
try:
    relay_explorer.build(relay.Function([x], relay.tanh(x)))
except relay.RelayError as problem:
    print(problem)
"""


@pytest.mark.parametrize("given", ["many", "0", "-1"])
def test_a_number_of_threads_that_is_none(given: str) -> None:
    environment = {**os.environ, "TVM_NUM_THREADS": given}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True)
    assert done.stdout.startswith(
        f"error: TVM_NUM_THREADS is '{given}': it must be the number of threads for kernels, 1 to 1024\n"
    )


def test_functions_that_call_each_other_twice_are_not_all_written_out() -> None:
    """Written out, this would be 3 ** 30 operators; no input makes it run through them."""
    tensor, depth = "Tensor[(2), float32]", 30
    text = f"def @f{depth}(%x: {tensor}) -> {tensor} {{ tanh(%x) }}\n"
    for k in range(depth):
        text += (
            f"def @f{k}(%x: {tensor}, %y: bool) -> {tensor} {{ if (%y) {{ CALL }} else {{ %x }} }}\n".replace(
                "CALL", f"@f{k + 1}(@f{k + 1}(%x, %y), %y)" if k + 1 < depth else f"@f{depth}(@f{depth}(%x))"
            )
        )
    text += f"def @main(%x: {tensor}, %y: bool) {{ @f0(%x, %y) }}"
    exe = relay_explorer.build(relay.parse(text))
    assert exe(np.ones(2, "float32"), False).tolist() == [1, 1]


def test_sizes_that_follow_from_the_number_of_axes() -> None:
    x = relay.var("x", shape=(relay.Any(), relay.Any()))
    assert build(relay.shape_of(x), x, executor="aot")(X).tolist() == [2, 3]


@pytest.mark.parametrize("executor", ["vm", "aot"])
def test_sizes_that_do_not_go_together(executor: str) -> None:
    """Nothing is read beyond the end of an array, whatever the arguments' sizes are."""
    any_, float_ = relay.Any(), "float32"
    x, y, z = (relay.var(name, shape=(any_,), dtype=float_) for name in "xyz")
    exe = build(relay.nn.relu(x + y) * z, x, y, z, executor=executor)
    one, two, three = (np.arange(n, dtype=float_) + 1 for n in (1, 2, 3))
    for given in ((two, two, two), (one, three, one), (three, one, three)):
        np.testing.assert_array_equal(exe(*given), (given[0] + given[1]) * given[2])
    a, b = relay.var("a", shape=(any_, any_)), relay.var("b", shape=(4, any_))
    dense = build(relay.nn.dense(a, b), a, b, executor=executor)
    assert dense(np.ones((2, 3), float_), np.ones((4, 3), float_)).tolist() == [[3] * 4] * 2
    wrong: list[tuple[Any, ...]] = [
        (exe, two, three, two),
        (exe, two, one, three),
        (dense, np.ones((2, 3), float_), np.ones((4, 1), float_)),
    ]
    for run, *values in wrong:
        with pytest.raises(RelayError, match=r"inconsistent sizes|could not be broadcast|failed"):
            run(*values)


ROWS, MANY = "Tensor[(?, ?), float32]", "Tensor[(?, ?, ?), float32]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"(%x: {ROWS}, %y: {ROWS}) {{ concatenate((%x, %y), axis=0) }}", "x1 y1"),
        ("(%x: Tensor[(?), float32], %y: Tensor[(3), float32]) { %x + %y }", "x0=3"),
        (f"(%x: {MANY}, %y: {MANY}) {{ nn.batch_matmul(%x, %y) }}", "x0 y0, x2 y1"),
        ("(%x: Tensor[(?, 3), float32]) { reshape(%x, newshape=[-1, 4]) }", ""),
        ("(%x: Tensor[(?, 3), float32], %y: Tensor[(2), float32]) { nn.relu(%x) }", ""),
    ],
)  # fmt: skip
def test_which_sizes_must_agree(text: str, expected: str) -> None:
    result = shape_constraints(infer_types(relay.parse(f"def @main{text}"))["main"])
    shown = [
        " ".join("xy"[number] + str(axis) for number, axis in a.places)
        + ("" if a.number is None else f"={a.number}")
        for a in result
    ]
    assert ", ".join(shown) == expected


# -- how large the cache grows


def test_what_was_used_longest_ago_goes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    names = [f"{k}{k}" + "0" * 38 for k in range(4)]
    for name in names:
        cache.put(name, b"l" * 1000, ".so", {"rule": "x"}, b"o" * 1000)
    for age, name in zip((9000, 8000, 7000, 10), names):
        for file in tmp_path.glob(f"{name[:2]}/*"):
            used = file.stat().st_mtime - age
            os.utime(file, (used, used))
    assert cache.get(names[0]) is not None  # it is used now
    left = tmp_path / "00" / ".left.so"
    left.write_bytes(b"")
    os.utime(left, (0, 0))
    assert pruning.prune(tmp_path, 5500) <= 5500
    assert [cache.get(name) is not None for name in names] == [True, False, False, True]
    assert not left.exists()
    assert pruning.prune(tmp_path, 0) > 4000  # others may be about to load what was used in the last hour


def test_a_kernel_that_went_from_the_cache_is_made_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "kernels"))
    x = relay.var("x", shape=(2, 3))
    for executor in ("graph", "vm", "aot"):
        exe = build(relay.nn.relu(x), x, executor=executor)
        for file in (tmp_path / "kernels").glob("*/*"):
            file.unlink()
        assert exe(X).sum() == 15
        exe.save(tmp_path / "saved")


@pytest.mark.parametrize("size", ["much", "-1", "nan"])
def test_a_size_of_the_cache_that_is_none(size: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(pruning.VARIABLE, size)
    with pytest.raises(
        RelayError, match=f"RELAY_EXPLORER_CACHE_SIZE is '{size}': it must be the size of the cache"
    ):
        pruning.limit()
