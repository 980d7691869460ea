"""`tvm.testing`: the helpers that tests of Relay programs use. Those for pytest need pytest."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .devices import Device, cpu


def assert_allclose(actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 1e-7) -> None:
    """Checks that two arrays have the same shape and that
    `abs(actual - desired) <= atol + rtol * abs(desired)`; an AssertionError tells where they differ.
    """
    import numpy

    actual, desired = numpy.asarray(actual), numpy.asarray(desired)
    numpy.testing.assert_array_equal(actual.shape, desired.shape, "the shapes differ")
    numpy.testing.assert_allclose(actual, desired, rtol=rtol, atol=atol)


def enabled_targets() -> list[tuple[str, Device]]:
    """The targets that tests run on: the CPU."""
    return [("llvm", cpu())]


def device_enabled(target: Any) -> bool:
    """Whether tests run on a target."""
    return str(target).split()[:1] == ["llvm"]


def parameter(*values: Any, ids: list[str] | None = None, by_dict: dict[str, Any] | None = None) -> Any:
    """A fixture, to be assigned in a test module: a test that takes it by name runs once for each value.
    `by_dict` gives the values with their names.
    """
    import pytest

    if by_dict is not None:
        if values or ids:
            raise TypeError("parameter takes values, or by_dict, not both")
        ids, values = list(by_dict), tuple(by_dict.values())

    @pytest.fixture(params=values, ids=ids)
    def value(request: Any) -> Any:
        return request.param

    return value


def fixture(func: Callable[..., Any] | None = None, *, cache_return_value: bool = False) -> Any:
    """As `pytest.fixture`; one whose value is cached is made once a session."""
    import pytest

    make = pytest.fixture(scope="session" if cache_return_value else "function")
    return make if func is None else make(func)


def parametrize_targets(*targets: Any) -> Any:
    """A decorator for a test that takes `target` and `dev`: it runs on those of `targets` that are here."""
    import pytest

    if len(targets) == 1 and callable(targets[0]):
        return parametrize_targets("llvm")(targets[0])
    here = [(t, cpu()) for t in targets or ("llvm",) if device_enabled(t)]
    return pytest.mark.parametrize(("target", "dev"), here)


def _anywhere(*arguments: Any) -> Any:
    """A decorator that changes nothing: its test runs on the CPU."""
    if len(arguments) == 1 and callable(arguments[0]):
        return arguments[0]
    return _anywhere


uses_gpu = requires_llvm = _anywhere


def main() -> None:
    """Runs the tests of the calling file and ends the program with pytest's status."""
    import pytest

    file = sys._getframe(1).f_globals["__file__"]
    sys.exit(pytest.main([file, *sys.argv[1:], "-p", f"{__package__}.pytest_plugin"]))


__all__ = [
    "assert_allclose", "device_enabled", "enabled_targets", "fixture", "main", "parameter",
    "parametrize_targets", "requires_llvm", "uses_gpu",
]  # fmt: skip
