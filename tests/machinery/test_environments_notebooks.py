"""Notebooks with Colab's versions. A file of its own, so that another process runs it beside the rest."""

from __future__ import annotations

import pytest

from tests.machinery.test_environments import run_in_colab


@pytest.mark.slow
def test_notebooks_with_the_versions_of_colab() -> None:
    """The book's notebooks and the exercises' solutions, on Python 3.13 with what Colab has, TVM among it."""
    run_in_colab("notebook")
