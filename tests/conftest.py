"""What tests of every area share: the built book."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built book; built here, which does little when nothing has changed."""
    from build_book import SITE, build

    done = build()
    assert done.returncode == 0, f"the book does not build:\n{done.stdout[-6000:]}"
    return SITE
