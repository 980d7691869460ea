"""What a screen reader finds in each explorer: roles, names and states, in the order of the page."""

from __future__ import annotations

import pytest
from inline_snapshot import external_file

from tests.browser.every_view import VIEWS, sample
from tests.browser.explorers import rx
from tests.browser.pages import Opener

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("view", VIEWS)
def test_the_outline(view: str, open_view: Opener) -> None:
    outline = rx(open_view(sample(view))).aria_snapshot()
    assert outline + "\n" == external_file(f"outlines/{view}.txt")
