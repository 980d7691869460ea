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
    found = relay.create_executor("graph").evaluate(ADD_ONE)(given).numpy()
    assert found.dtype == "float32"
    assert found.tolist() == [1, 2]
    assert given.dtype == dtype


@pytest.mark.filterwarnings("ignore:the executor")
def test_others_do_not_nor_does_it_for_arrays_of_its_own() -> None:
    message = r"must be `Tensor\[\(2\), float32\]`, and `%argument_0` is `Tensor\[\(2\), int32\]`"
    for kind in ("debug", "vm"):
        with pytest.raises(RelayError, match=message):
            relay.create_executor(kind).evaluate(ADD_ONE)(np.array([0, 1], "int32"))
    with pytest.raises(RelayError, match=message):
        relay.create_executor("graph").evaluate(ADD_ONE)(tvm.nd.array(np.array([0, 1], "int32")))


@pytest.mark.filterwarnings("ignore:the executor")
def test_a_shape_that_does_not_fit_is_still_refused() -> None:
    with pytest.raises(RelayError, match=r"and `%argument_0` is `Tensor\[\(3\), float32\]`"):
        relay.create_executor("graph").evaluate(ADD_ONE)(np.zeros(3))


def test_there_are_no_gradients_to_check() -> None:
    from relay_explorer.compat.tvm.relay.testing import check_grad

    with pytest.raises(NotImplementedError) as caught:
        check_grad(ADD_ONE)
    assert str(caught.value) == "a gradient cannot be checked: there is no automatic differentiation yet"


def test_the_compilers_cache_is_empty() -> None:
    cache = tvm.relay.backend.te_compiler.get()
    cache.clear()
    with pytest.raises(
        AttributeError, match=r"TECompiler\.lower is not in .* programs are not compiled here"
    ):
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
