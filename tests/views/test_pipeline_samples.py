"""The samples of pipelines that the front end's tests draw are what the passes make today."""

from __future__ import annotations

import json

import pytest

from relay_explorer.views.check import check
from tests.views.pipelines import DATA, SAMPLES, sample


@pytest.mark.parametrize("name", SAMPLES)
def test_the_kept_samples_are_what_the_passes_make(name: str) -> None:
    kept = (DATA / f"pipeline_{name}.json").read_text("utf-8")
    assert kept == sample(name), "run `python -m tests.views.pipelines`"
    assert check(json.loads(kept)) == []
