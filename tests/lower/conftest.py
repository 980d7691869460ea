"""What the tests of compiling share: a cache of kernels of their own, and silence."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def kernels_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Kernels are compiled once a session, and not taken from the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELAY_EXPLORER_CACHE", str(tmp_path_factory.mktemp("kernels")))
        patch.setenv("RELAY_EXPLORER_QUIET", "1")
        yield
