"""What old tests of operators find: executors that take arrays as TVM's did, and what is not there."""

from __future__ import annotations

import numpy as np
import pytest

from relay_explorer.compat import tvm
from relay_explorer.compat.tvm import relay
from relay_explorer.ir.errors import RelayError

ADD_ONE = relay.Function([x := relay.var("x", shape=(2,))], x + relay.const(1.0))


@pytest.mark.filterwarnings("ignore:the executor")
@pytest.mark.parametrize("dtype", ["int32", "float64", "bool"])
def test_the_graph_executor_copies_arrays_into_the_parameters_type(dtype: str) -> None:
    given = np.array([0, 1], dtype)
    result = relay.create_executor("graph").evaluate(ADD_ONE)(given).numpy()
    assert result.dtype == "float32"
    assert result.tolist() == [1, 2]
    assert given.dtype == dtype


@pytest.mark.filterwarnings("ignore:the executor")
def test_others_do_not_nor_does_it_for_arrays_of_its_own() -> None:
    message = (
        r"must be `Tensor\[\(2\), float32\]`, but the first value from Python is `Tensor\[\(2\), int32\]`"
    )
    for kind in ("debug", "vm"):
        with pytest.raises(RelayError, match=message):
            relay.create_executor(kind).evaluate(ADD_ONE)(np.array([0, 1], "int32"))
    with pytest.raises(RelayError, match=message):
        relay.create_executor("graph").evaluate(ADD_ONE)(tvm.nd.array(np.array([0, 1], "int32")))


@pytest.mark.filterwarnings("ignore:the executor")
def test_a_shape_that_does_not_fit_is_still_refused() -> None:
    with pytest.raises(RelayError, match=r"but the first value from Python is `Tensor\[\(3\), float32\]`"):
        relay.create_executor("graph").evaluate(ADD_ONE)(np.zeros(3))


def squares(function: relay.Function, factor: float) -> relay.Function:
    """Of `fn(a, b) = a · a · b` the value and the derivatives 2ab and a², times a factor."""
    a, b = function.params
    slopes = relay.Tuple([a * b * relay.const(2.0 * factor), a * a * relay.const(factor)])
    return relay.Function([a, b], relay.Tuple([function.body, slopes]))


@pytest.mark.parametrize("given", [False, True])
def test_a_gradient_is_checked_against_difference_quotients(
    monkeypatch: pytest.MonkeyPatch, given: bool
) -> None:
    from relay_explorer.compat.tvm.relay.testing import check_grad

    from relay_explorer import transform

    a, b = (relay.var(name, shape=(2,), dtype="float32") for name in "ab")
    function = relay.Function([a, b], a * a * b)
    inputs = [np.array([1, 2], "float32"), np.array([3, -1], "float32")]
    named = (
        {"inputs": inputs, "eps": 1e-2, "rtol": 1e-2} if given else {"mean": 1.0, "eps": 1e-2, "rtol": 1e-1}
    )
    monkeypatch.setattr(transform, "gradient", lambda f, mode: squares(f, 1.0), raising=False)
    check_grad(function, **named)
    monkeypatch.setattr(transform, "gradient", lambda f, mode: squares(f, 1.5), raising=False)
    with pytest.raises(AssertionError, match="the gradient by argument 0"):
        check_grad(function, **named)
    if given:
        with pytest.raises(AssertionError, match="the gradient by argument 1"):
            check_grad(function, test_inputs=inputs[1:], **named)


def test_arguments_that_are_no_numbers_must_be_given() -> None:
    from relay_explorer.compat.tvm.relay.testing import check_grad

    with pytest.raises(TypeError, match="type int32 cannot be chosen at random: give `inputs`"):
        check_grad(relay.Function([n := relay.var("n", shape=(), dtype="int32")], n))


def test_the_compilers_cache_is_empty() -> None:
    cache = tvm.relay.backend.te_compiler.get()
    cache.clear()
    with pytest.raises(AttributeError, match=r"TECompiler\.lower is not in .* single kernels are TVM's own"):
        cache.lower  # noqa: B018


def test_numpys_old_names_are_there_for_old_code_alone() -> None:
    from relay_explorer.compat import install, uninstall

    install()
    install()
    assert np.product([2, 3]) == 6  # type: ignore[attr-defined]
    assert np.float_ is np.float64  # type: ignore[attr-defined]
    assert np.int is int  # type: ignore[attr-defined]
    uninstall()
    assert "product" not in vars(np)
    assert "int" not in vars(np)
