"""`tvm.testing.plugin`, which TVM's `conftest.py` names as a plugin: registers `pytest_plugin`, once."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.import_plugin(f"{__package__}.pytest_plugin")


__all__ = ["pytest_configure"]
