"""What is derived from the views' dataclasses is fresh, and the samples fit it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tools.view_contract import kinds, stale, table

DATA = Path(__file__).parents[2] / "frontend" / "test" / "data"


def test_the_derived_files_are_fresh() -> None:
    assert stale() == [], "run `make views`"


def test_every_view_is_described() -> None:
    assert set(kinds()) >= {"ir", "types", "fusion", "run"}
    assert set(table()["views"]) == set(kinds())


@pytest.mark.parametrize("path", sorted(DATA.glob("*.json")), ids=lambda path: path.stem)
def test_the_samples_fit_the_json_schema(path: Path) -> None:
    schema = json.loads((DATA.parents[1] / "src" / "generated" / "view.schema.json").read_text("utf-8"))
    view = json.loads(path.read_text("utf-8"))
    record = table()["views"][view["view"]]
    validator = jsonschema.Draft202012Validator({**schema, "oneOf": [{"$ref": f"#/$defs/{record}"}]})
    assert [error.message for error in validator.iter_errors(view)] == []
