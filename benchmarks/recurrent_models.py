"""The recurrent networks of benchmarks/recurrent.py in Relay: loops over a list of vectors, and the same
steps unrolled.
"""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np

from relay_explorer import models, relay
from relay_explorer.ir.module import IRModule
from relay_explorer.models.char_rnn import CELLS, encode
from relay_explorer.models.tree_lstm import phrase
from relay_explorer.typing import infer_types

STEPS, INPUTS, HIDDEN = 32, 64, 128
NAME = "Rachmaninov"
LETTERS = 20  # that the character RNN writes
WORDS = 20  # of the sentence that the TreeLSTM reads
CELL_NETWORKS = ("rnn", "gru", "lstm")
NETWORKS = (*CELL_NETWORKS, "char_rnn", "char_rnn_writer", "tree_lstm")

_STEP = """
def @step(%state: {state}, %input: Tensor[(1, {inputs}), float32], {weights}) -> {state} {{
  let %x = nn.bias_add(nn.dense(%input, %input_weight), %input_bias);
  let %y = nn.bias_add(nn.dense({shown}, %state_weight), %state_bias);
  {step}
}}
"""
_WEIGHTS = """%input_weight: Tensor[({gates}, {inputs}), float32], %input_bias: Tensor[({gates}), float32],
  %state_weight: Tensor[({gates}, {hidden}), float32], %state_bias: Tensor[({gates}), float32]"""
_NAMES = "%input_weight, %input_bias, %state_weight, %state_bias"

_LOOP = """
def @read(%inputs: List[Tensor[(1, {inputs}), float32]], %state: {state}, {weights}) -> {state} {{
  match (%inputs) {{
    Nil => {{ %state }},
    Cons(%input, %rest) => {{ @read(%rest, @step(%state, %input, {names}), {names}) }},
  }}
}}
def @main(%inputs: List[Tensor[(1, {inputs}), float32]], {weights}) {{
  let %state = @read(%inputs, {first}, {names});
  {shown}
}}
"""

_UNROLLED = """
def @main(%inputs: Tensor[({steps}, {inputs}), float32], {weights}) {{
  let %rows = split(%inputs, indices_or_sections={steps}, axis=0);
  let %state = {first};
{lines}
  {shown}
}}
"""


def sequence(name: str, unrolled: bool) -> IRModule:
    """Return a cell applied to a sequence of vectors, to the last state: over a list, or unrolled STEPS
    times.
    """
    cell = CELLS[name]
    parts = {k: getattr(cell, k).format(hidden=HIDDEN) for k in ("state", "first", "shown", "step")}
    sizes = {"inputs": INPUTS, "hidden": HIDDEN, "gates": cell.gates * HIDDEN, "steps": STEPS}
    weights = _WEIGHTS.format(**sizes)
    lines = "\n".join(f"  let %state = @step(%state, %rows.{t}, {_NAMES});" for t in range(STEPS))
    main = _UNROLLED if unrolled else _LOOP
    text = (_STEP + main).format(**parts, **sizes, weights=weights, names=_NAMES, lines=lines)
    mod = relay.parse(text, f"{name}.relay", init_module=relay.prelude.Prelude().mod)
    return relay.transform.RemoveUnusedFunctions()(mod)


def module(name: str, unrolled: bool = False) -> IRModule:
    return infer_types(sequence(name, unrolled) if name in CELL_NETWORKS else models.load(name))


def inputs_of(name: str) -> int:
    """Return the number of parameters that are inputs rather than weights."""
    return 2 if name == "char_rnn_writer" else 1


def weights_of(name: str) -> dict[str, np.ndarray]:
    """Return random weights by name, scaled so that states neither vanish nor explode."""
    weights = {}
    numbers = np.random.default_rng(0)
    for param in module(name)["main"].params[inputs_of(name) :]:
        shape = param.checked_type.concrete_shape  # type: ignore[attr-defined]  # a tensor
        scale = 1 / math.sqrt(shape[-1]) if len(shape) > 1 else 0.1
        weights[param.name_hint] = numbers.normal(0, scale, shape).astype("float32")
    return weights


def data_of(name: str) -> Any:
    """Return a network's input as a Python value: an array (STEPS, INPUTS), indices of letters, a tree."""
    numbers = np.random.default_rng(1)
    if name in CELL_NETWORKS:
        return numbers.normal(size=(STEPS, INPUTS)).astype("float32")
    if name == "char_rnn":
        return encode(NAME)
    if name == "char_rnn_writer":
        return encode(NAME[0])[0], LETTERS
    words = [numbers.normal(size=(1, 300)).astype("float32") for _ in range(WORDS)]
    return _tree(words, random.Random(0))


def _tree(words: list[Any], choice: random.Random) -> Any:
    if len(words) == 1:
        return words[0]
    cut = choice.randrange(1, len(words))
    return _tree(words[:cut], choice), _tree(words[cut:], choice)


def arguments(name: str, mod: IRModule, unrolled: bool = False) -> list[Any]:
    """Return the same as arguments of the Relay program."""
    data = data_of(name)
    if unrolled:
        return [data]
    if name == "tree_lstm":
        return [phrase(mod, data)]
    if name == "char_rnn_writer":
        return [np.array(number, "int32") for number in data]
    items = [row[None] for row in data] if name in CELL_NETWORKS else [np.array(n, "int32") for n in data]
    return [_list(mod, items)]


def _list(mod: IRModule, items: list[Any]) -> Any:
    from relay_explorer.execute.results import ConstructorValue

    constructors = {
        c.name_hint: c for c in mod.type_definitions[mod.get_global_type_var("List")].constructors
    }
    nil, cons = constructors["Nil"], constructors["Cons"]
    result = ConstructorValue(nil.tag, [], nil)
    for item in reversed(items):
        result = ConstructorValue(cons.tag, [item, result], cons)
    return result


def as_array(result: Any) -> np.ndarray:
    """Return a result of any program as one array; for a list of letters, their indices."""
    if hasattr(result, "constructor"):
        letters = []
        while result.fields:
            head, result = result.fields
            letters.append(int(head.numpy()))
        return np.array(letters)
    return np.asarray(result)
