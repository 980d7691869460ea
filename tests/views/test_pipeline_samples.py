"""The samples of pipelines that the front end's tests draw are what the passes make today."""

from __future__ import annotations

import json

import pytest

from relay_explorer.ir.module import IRModule
from relay_explorer.transform import FoldConstant
from relay_explorer.views.pipeline.view import pipeline_view
from tests.support.views.check import check
from tests.views.pipelines import DATA, SAMPLES, sample


@pytest.mark.parametrize("name", SAMPLES)
def test_the_kept_samples_are_what_the_passes_make(name: str) -> None:
    kept = (DATA / f"pipeline_{name}.json").read_text("utf-8")
    assert kept == sample(name), "run `python -m tests.views.pipelines`"
    assert check(json.loads(kept)) == []


def test_an_empty_module_has_stages_without_rows() -> None:
    view = pipeline_view(IRModule(), [FoldConstant()]).to_dict()
    assert [stage["rows"] for stage in view["stages"]] == [[0, -1], [0, -1]]
    assert check(view) == []
