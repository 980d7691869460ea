"""A plugin with which pytest runs test files written for TVM: `-p relay_explorer.compat.pytest_plugin`."""

from __future__ import annotations

from typing import Any

import pytest

from .devices import Device, device
from .hook import install, uninstall
from .testing_parameters import EXCLUDED, FAILING, MARKED, generate, mark_parameterizations

MARKERS = ("gpu", "uses_gpu", "tensorcore", "cuda", "skip_on_gpu", EXCLUDED, FAILING, MARKED)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    install()  # before the `conftest.py` of TVM, which imports it


def pytest_configure(config: pytest.Config) -> None:
    install()
    for marker in MARKERS:
        config.addinivalue_line("markers", f"{marker}: a marker of TVM's tests")


def pytest_unconfigure(config: pytest.Config) -> None:
    uninstall()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    generate(metafunc)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_parameterizations(items)


@pytest.fixture(name="target")
def _target() -> str:
    """Return the target of a test that uses the fixture without parameters of its own."""
    return "llvm"


@pytest.fixture(name="dev")
def _dev(target: Any) -> Device:
    """Return the device that belongs to the target."""
    return device(str(target))
