"""What the button `edit` hands to the playground: the program of any explorer, as text that can be parsed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from relay_explorer import explore, models, relay
from relay_explorer.ir import structural_equal
from relay_explorer.playground.session import Session
from relay_explorer.text import parse
from relay_explorer.views.editing import with_weights_as_parameters
from tests.playground.models import layers, resnet18

FRONTEND = Path(__file__).parents[2] / "frontend"
DATA = FRONTEND / "test" / "data"

# The getters of the views' classes need no page, only their rows.
SCRIPT = """
import { readFileSync, readdirSync } from "node:fs";
import { decode } from "./src/core/decode.js";
import { optionsOf, programText } from "./src/core/edit.js";
import { own } from "./src/core/ownrows.js";
const result = {};
for (const name of readdirSync("test/data").filter((name) => name.endsWith(".json"))) {
  const view = decode(JSON.parse(readFileSync(`test/data/${name}`, "utf8")));
  result[name] = [programText(own(view)), optionsOf(view)];
}
console.log(JSON.stringify(result));
"""


@pytest.fixture(scope="module")
def edited() -> dict[str, tuple[str | None, dict[str, Any]]]:
    """The texts and options of all samples, by file."""
    done = subprocess.run(
        ["node", "--input-type=module", "-e", SCRIPT],
        cwd=FRONTEND,
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, tuple[str | None, dict[str, Any]]] = json.loads(done.stdout)
    return result


@pytest.fixture(scope="module")
def texts(edited: dict[str, tuple[str | None, dict[str, Any]]]) -> dict[str, str | None]:
    return {name: text for name, (text, _) in edited.items()}


def test_every_program_without_large_constants_can_be_edited(texts: dict[str, str | None]) -> None:
    absent = {name.partition("_")[0] for name, text in texts.items() if text is None}
    assert absent == {"quantize", "run", "source"}
    for name, text in texts.items():
        if text is not None:
            module = parse(text, name)
            assert len(list(module.functions)) >= 1


def test_the_program_is_the_one_that_the_reader_has_written(texts: dict[str, str | None]) -> None:
    tree = texts["partial_tree.json"]
    assert tree is not None
    assert tree.count("def @main") == 1
    assert "@sum(" in tree
    fork = texts["gradient_fork.json"]
    assert fork is not None
    assert "%d_" not in fork


@pytest.mark.parametrize("view", ["ir", "types", "source", "fusion", "pipeline", "memory", "costs"])
def test_the_weights_of_an_imported_model_become_parameters(view: str) -> None:
    for content in (layers(), resnet18(width=4, size=32)):
        module, _ = relay.frontend.from_onnx(content)
        text = explore(module, view).to_dict()["editable"]
        assert ".weight: Tensor[" in text
        assert structural_equal(parse(text), with_weights_as_parameters(module)[0])


def test_constants_of_few_numbers_keep_their_values() -> None:
    module, _ = relay.frontend.from_onnx(layers(width=2))
    assert structural_equal(parse(explore(module, "ir").to_dict()["editable"]), module)


def test_a_program_without_large_constants_is_not_written_twice() -> None:
    assert "editable" not in explore(models.load("lenet"), "ir").to_dict()


def test_the_options_are_those_with_which_the_view_was_made(
    edited: dict[str, tuple[str | None, dict[str, Any]]],
) -> None:
    options = {name.removesuffix(".json"): options for name, (_, options) in edited.items() if options}
    assert options["pipeline_power"] == {"passes": "ToANormalForm, PartialEvaluate, DeadCodeElimination"}
    assert options["pipeline_shared"]["passes"].endswith(", FuseOps(fuse_opt_level=2)")
    assert options["pipeline_orders"]["against"].startswith("EliminateCommonSubexpr")
    assert options["compare_passes"] == {"passes": "SimplifyInference"}
    assert "compare_hand" not in options
    assert options["evaluation_closures"] == {"args": ["[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"]}
    assert options["evaluation_map"]["args"][0] == "10"
    assert "args" in options["machine_tree"]


def test_the_options_make_the_same_view_again(
    edited: dict[str, tuple[str | None, dict[str, Any]]],
) -> None:
    """The playground makes of the text and the options what the explorer showed."""
    session = Session()
    for name in ("pipeline_shared.json", "pipeline_orders.json", "evaluation_map.json", "machine_tree.json"):
        text, options = edited[name]
        kind = name.partition("_")[0]
        answer = json.loads(session.answer(json.dumps({"text": text, "view": kind, "options": options})))
        assert answer["problems"] == []
        sample = json.loads((DATA / name).read_text("utf-8"))
        assert len(answer["view"]["steps" if "steps" in sample else "stages"]) == len(
            sample["steps" if "steps" in sample else "stages"]
        )
