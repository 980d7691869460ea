"""What the tests of compiling share: a cache of kernels of their own, and silence."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from relay_explorer.lower.link import native


@pytest.fixture(autouse=True, scope="session")
def kernels_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Kernels are compiled once a session by all its processes, and not taken from the user's cache."""
    several = "PYTEST_XDIST_TESTRUNUID" in os.environ  # they have folders beside each other
    shared = tmp_path_factory.getbasetemp().parent / "kernels"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELAY_EXPLORER_CACHE", str(shared if several else tmp_path_factory.mktemp("kernels")))
        patch.setenv("RELAY_EXPLORER_QUIET", "1")
        # Programs in C are compiled in a third of the time; processes that tests start take the usual flags.
        flags = ["-O0" if flag == "-O2" else flag for flag in native.FLAGS]
        patch.setattr(native, "FLAGS", tuple(flags))
        yield
