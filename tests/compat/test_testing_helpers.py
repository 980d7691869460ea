"""`tvm.testing` in test files that are run as old ones are: parameters, targets, features."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.compat import compiling, tvm
from relay_explorer.ir.errors import RelayError

ROOT = Path(__file__).parents[2]
testing: Any = tvm.testing  # looked up when asked for

OLD_TESTS = """
import pytest
import tvm
import tvm.testing
from tvm import relay

size = tvm.testing.parameter(2, 3)
shape, rank = tvm.testing.parameters(((4,), 1), ((4, 5), 2), ids=["row", "table"])


@tvm.testing.fixture
def variable(shape):
    return relay.var("x", shape=shape)


@tvm.testing.fixture(cache_return_value=True)
def made(size):
    return [size]


def test_together(variable, rank, size):
    assert len(variable.type_annotation.shape) == rank


def test_a_copy_each(made, size, target):
    made.append(0)
    assert made == [size, 0]


class TestOfAClass:
    low, high = tvm.testing.parameters((0, 1), (1, 2))
    kind = tvm.testing.parameter(by_dict={"first": "a", "second": "b"})

    @tvm.testing.fixture
    def span(self, low, high):
        return high - low

    def test_spans(self, span, kind, target, dev):
        assert span == 1
        assert target == "llvm" and dev == tvm.cpu()


@tvm.testing.parametrize_targets("llvm -mcpu=skylake", "cuda")
def test_targets(target):
    assert target == "llvm -mcpu=skylake"


@tvm.testing.exclude_targets("llvm")
def test_excluded(target):
    raise AssertionError


@tvm.testing.known_failing_targets("llvm")
def test_fails(target):
    raise AssertionError


@tvm.testing.requires_llvm
@tvm.testing.uses_gpu
def test_here():
    pass


@tvm.testing.requires_cuda
def test_elsewhere():
    raise AssertionError


@pytest.mark.parametrize("where", ["here", pytest.param("there", marks=tvm.testing.requires_metal.marks())])
def test_marks(where):
    assert where == "here"


@tvm.testing.requires_package("no_such_package")
def test_package():
    raise AssertionError


@tvm.testing.skip_parameterizations("2", reason="not two")
def test_some(size):
    assert size == 3
"""


def test_parameters_targets_and_features(tmp_path: Path) -> None:
    (tmp_path / "test_old.py").write_text(OLD_TESTS)
    command = [sys.executable, "-m", "relay_explorer.compat", "-m", "pytest", "-rA", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "test_old.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    passed = [line.split("::", 1)[1] for line in done.stdout.splitlines() if line.startswith("PASSED")]
    assert sorted(passed) == sorted(
        [
            *[f"test_together[{size}-{shape}]" for shape in ("row", "table") for size in (2, 3)],
            *[f"test_a_copy_each[{size}-llvm]" for size in (2, 3)],
            *[
                f"TestOfAClass::test_spans[{kind}-llvm-{group}]"
                for group in ("0-1", "1-2")
                for kind in ("first", "second")
            ],
            "test_targets[llvm -mcpu=skylake]",
            "test_here",
            "test_marks[here]",
            "test_some[3]",
        ]
    ), done.stdout
    assert "14 passed, 6 skipped, 1 xfailed" in done.stdout
    for reason in (
        "cuda is not available: old tests run on the CPU",
        "not for llvm",
        "needs CUDA: old tests run on the CPU",
        "needs Metal: old tests run on the CPU",
        "needs the package no_such_package: no_such_package is not installed",
        "not two",
    ):
        assert reason in done.stdout
    assert done.returncode == 0


def test_sets_of_parameters_are_alike() -> None:
    with pytest.raises(ValueError, match="different lengths"):
        testing.parameters((1, 2), (3,))


def test_gradients_are_compared_with_difference_quotients() -> None:
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    testing.check_numerical_grads(lambda a, b: a * b, [x, y], [y, x])
    with pytest.raises(AssertionError, match="the gradient by input 1 is off"):
        testing.check_numerical_grads(lambda a, b: a * b, [x, y], [y, y])


def test_enabled_targets_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert testing.enabled_targets() == [("llvm", tvm.cpu())]
    monkeypatch.setenv("TVM_TEST_TARGETS", "cuda; llvm -mcpu=native")
    assert [target for target, _ in testing.enabled_targets()] == ["llvm -mcpu=native"]


def test_sizes_of_te_and_tir() -> None:
    te, tir = tvm.te, tvm.tir  # looked up when asked for
    n = te.size_var("n")
    scale = tir.const(2.0, "float64")
    assert tir.Cast("int32", te.round(n * scale)) == 2 * n
    assert tir.indexdiv(n, 4) == n // 4 == tir.FloorDiv(n, 4)
    assert tir.floormod(4 * n + 1, 4) == 1
    assert repr(tir.max(n, 3)) == "max(n, 3)"
    assert (tir.max(2, 3), tir.truncdiv(-7, 2), tir.truncmod(-7, 2), tir.ceildiv(7, 2)) == (3, -3, -1, 4)
    assert isinstance(n + 1, tir.PrimExpr)


def test_folders_go_away() -> None:
    with tvm.contrib.utils.tempdir() as folder:
        path = Path(folder.relpath("log.txt"))
        path.write_text("x")
        assert folder.listdir() == ["log.txt"]
    assert not path.exists()


def test_tuning_changes_nothing_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "_said", set())
    autotvm: Any = tvm.autotvm
    with pytest.warns(UserWarning, match="a log of tuning is not used: relay_explorer.build"):
        context = autotvm.apply_history_best("log.json")

    class Mine(autotvm.FallbackContext):
        def _query_inside(self, target: object, workload: object) -> object:
            return self.memory.setdefault((target, workload), 1)

    with context, Mine() as mine:
        assert autotvm.DispatchContext.current is mine
        assert mine.query("llvm", "conv2d") == 1
    assert autotvm.DispatchContext.current is None
    with pytest.raises(AttributeError, match="several tilings"):
        _ = autotvm.template


def test_what_a_program_is_built_for_is_kept() -> None:
    backend = tvm.relay.backend
    aot = backend.Executor("aot", {"unpacked-api": False})
    assert aot == backend.Executor("aot", {"unpacked-api": False})
    assert aot != backend.Executor("aot")
    assert (str(aot), aot["unpacked-api"], "interface-api" in aot) == ("aot", False, False)
    assert backend.Runtime("cpp") != backend.Executor("graph")
    assert repr(backend.Runtime("crt")) == "Runtime('crt')"


def test_options_of_executors_and_runtimes_are_checked() -> None:
    backend = tvm.relay.backend
    assert backend.Executor("graph")["link-params"] is False
    assert {"graph", "aot"} <= set(backend.Executor.list_registered())
    assert backend.Runtime.list_registered_options(backend.Runtime("crt"))["system-lib"] == "IntImm"
    with pytest.raises(RelayError, match='Runtime "rust" is not defined'):
        backend.Runtime("rust")
    with pytest.raises(RelayError, match='"speed" is not available on this Executor'):
        backend.Executor("aot", {"speed": 2})
    with pytest.raises(RelayError, match=r'should have type "runtime\.String" but instead found "IntImm"'):
        backend.Executor("aot", {"interface-api": 1})


def test_infers_the_fields_of_a_wrapped_tuple() -> None:
    x = relay.var("x", shape=(4, 6))
    halves = tvm.relay.testing.run_infer_type(relay.split(x, 2, axis=1))
    assert [str(half.checked_type) for half in halves] == ["Tensor[(4, 3), float32]"] * 2


def test_values_of_declared_types_are_sequences_of_their_fields() -> None:
    module = relay.IRModule()
    module.import_from_std("prelude.rly")
    _, cons, nil = module.get_type("List")
    module["main"] = relay.Function([], cons(relay.const(7), cons(relay.const(8), nil())))
    value = relay.create_executor("debug", module).evaluate()()
    assert isinstance(value, tvm.runtime.container.ADT)
    assert len(value) == 2
    assert [field.numpy() for field in (value[0], value[1][0])] == [7, 8]
    assert [len(part) for part in (value[1], value[1][1])] == [2, 0]
