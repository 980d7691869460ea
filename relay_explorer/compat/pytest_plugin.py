"""Lets pytest run test files that were written for TVM: `-p relay_explorer.compat.pytest_plugin`."""

from __future__ import annotations

from typing import Any

import pytest

from .devices import Device, cpu
from .hook import install, uninstall

MARKERS = ("gpu", "uses_gpu", "tensorcore", "cuda", "skip_on_gpu")


def pytest_configure(config: pytest.Config) -> None:
    install()
    for marker in MARKERS:
        config.addinivalue_line("markers", f"{marker}: a marker of TVM's tests")


def pytest_unconfigure(config: pytest.Config) -> None:
    uninstall()


@pytest.fixture(name="target")
def _target() -> str:
    """The target of a test that asks for one."""
    return "llvm"


@pytest.fixture(name="dev")
def _dev(target: Any) -> Device:
    """The device that goes with the target."""
    return cpu()
