"""`tvm.testing`: helpers for tests of Relay programs. Those for pytest need pytest."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ..transform import PassContext
from .devices import Device, Target, cpu
from .testing_features import *  # noqa: F403
from .testing_features import __all__ as _FEATURES
from .testing_parameters import (
    exclude_targets,
    fixture,
    known_failing_targets,
    parameter,
    parameters,
    parametrize_targets,
    skip_parameterizations,
    xfail_parameterizations,
)

FILL_SPAN = "relay.frontend.fill_span"  # the option of the PassContext


def assert_allclose(
    actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 1e-7, verbose: bool = True
) -> None:
    """Check that two arrays have the same shape and that `abs(actual - desired) <= atol + rtol *
    abs(desired)`; raise an AssertionError that shows where they differ.
    """
    import numpy

    actual, desired = numpy.asarray(actual), numpy.asarray(desired)
    numpy.testing.assert_array_equal(actual.shape, desired.shape, "the shapes differ")
    numpy.testing.assert_allclose(actual, desired, rtol=rtol, atol=atol, verbose=verbose)


def check_numerical_grads(
    function: Callable[..., Any],
    input_values: Sequence[Any],
    grad_values: Sequence[Any],
    function_value: Any = None,
    delta: float = 1e-3,
    atol: float = 1e-2,
    rtol: float = 0.1,
) -> None:
    """Compare gradients with difference quotients.

    `function` takes `input_values`, arrays, and returns an array whose sum is differentiated; `grad_values`
    are the derivatives with respect to each of them. Raise an AssertionError that names the input whose
    gradient differs in the L2 norm. `function_value`, its value at the inputs, is ignored.
    """
    import numpy

    inputs = [numpy.array(value, copy=True) for value in input_values]
    for number, (x, gradient) in enumerate(zip(inputs, grad_values, strict=True)):
        slopes = numpy.zeros(x.shape)
        for index in numpy.ndindex(*x.shape):
            original = x[index]
            x[index] = original + delta
            above = numpy.sum(function(*inputs))
            x[index] = original - delta
            slopes[index] = (above - numpy.sum(function(*inputs))) / (2 * delta)
            x[index] = original
        gradient = numpy.asarray(gradient)
        off = numpy.linalg.norm(slopes - gradient)
        allowed = atol * numpy.sqrt(max(1, slopes.size)) + rtol * numpy.linalg.norm(slopes)
        assert off <= allowed, (
            f"the gradient by input {number} is off by {off:.3g} (at most {allowed:.3g} is allowed): "
            f"the difference quotients are\n{slopes}\nbut the gradient is\n{gradient}"
        )


def _requested() -> list[str]:
    """Return the targets of the variable TVM_TEST_TARGETS, separated by `;`, or "llvm"."""
    named = os.environ.get("TVM_TEST_TARGETS", "")
    return [name.strip() for name in named.split(";") if name.strip()] or ["llvm"]


def enabled_targets() -> list[tuple[str, Device]]:
    """Return the targets that tests run on, with their devices: the CPU."""
    return [(target, cpu()) for target in _requested() if device_enabled(target)]


def device_enabled(target: Any) -> bool:
    """Whether tests run on a target: those of the kinds "llvm" and "c" do."""
    return str(Target(target).kind) in ("llvm", "c")


def skip_if_32bit(reason: str = "needs 64 bits") -> Any:
    """Decorate a test that needs a 64-bit Python."""
    import pytest

    return pytest.mark.skipif(sys.maxsize < 2**32, reason=reason)


def skip_if_wheel_test(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a test that needs more than an installed TVM: it is skipped if WHEEL_TEST is set."""
    import pytest

    unwanted = os.environ.get("WHEEL_TEST", "").lower() in ("true", "yes", "1")
    marked: Callable[..., Any] = pytest.mark.skipif(unwanted, reason="not with a wheel")(func)
    return marked


def enable_span_filling() -> PassContext:
    """Return a context in which importers give expressions the spans of the nodes that they came from."""
    return PassContext(config={FILL_SPAN: True})


def disable_span_filling() -> PassContext:
    """Return a context in which importers and `set_span` leave expressions without spans."""
    return PassContext(config={FILL_SPAN: False})


def identity_after(value: Any, seconds: float) -> Any:
    """Return `value` after a sleep."""
    import time

    time.sleep(seconds)
    return value


def main() -> None:
    """Run the tests of the calling file and exit with pytest's status."""
    import pytest

    file = sys._getframe(1).f_globals["__file__"]
    sys.exit(pytest.main([file, *sys.argv[1:], "-p", f"{__package__}.pytest_plugin"]))


__all__ = [
    "assert_allclose", "check_numerical_grads", "device_enabled", "disable_span_filling",
    "enable_span_filling", "enabled_targets", "exclude_targets",
    "fixture", "identity_after", "known_failing_targets", "main", "parameter", "parameters",
    "parametrize_targets", "skip_if_32bit", "skip_if_wheel_test", "skip_parameterizations",
    "xfail_parameterizations",
]  # fmt: skip
__all__ += _FEATURES
