"""Every operator can be run, and gives what its type relation says: element type, shape, count of results."""

from __future__ import annotations

import subprocess
import sys
from typing import Any as Anything

import numpy as np
import pytest

from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Call, Function
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.op import Op
from relay_explorer.ir.types import TensorType, TupleType, Type
from relay_explorer.text import astext, parse
from relay_explorer.typing import infer_types
from tests.ops.examples import EXAMPLES
from tests.ops.meanings import Array, numbers, rng, run
from tests.ops.test_examples import name_of, program

# Arguments that are more than an index of an axis, or any number, by operator and variable.
SPECIAL: dict[str, dict[str, Anything]] = {
    "invert_permutation": {"i": [2, 0, 3, 1], "a0": [2, 0, 3, 1, 5, 4]},
    "unravel_index": {"s": [2, 3]},
    "image.crop_and_resize": {"i": [0, 0, 0]},
    "dyn.reshape": {"i": [3, -1]},
    "dyn.broadcast_to": {"i": [2, 6]},
    "dyn.squeeze": {"i": [0]},
    "dyn.image.resize2d": {"i": [3, 5]},
    "dyn.sparse_to_dense": {"s": [4, 5]},
    "dyn.nn.upsampling": {"h": 2},
    "dyn.nn.upsampling3d": {"d": 1, "h": 3},
    "vision.roi_align": {"r": [[0, 2, 1, 9, 7], [0, 0, 0, 15, 20]]},
    "vision.roi_pool": {"r": [[0, 2, 1, 9, 7], [0, 0, 0, 15, 20]]},
    "nn.sparse_dense": {"indptr": [0, 1, 3]},
    "nn.sparse_add": {"indptr": [0, 1, 3]},
    "nn.sparse_transpose": {"indptr": [0, 1, 3]},
}

DIVIDING = {"divide", "mod", "floor_divide", "floor_mod", "trunc_divide", "trunc_mod"}


def name_in(module: IRModule) -> str:
    main = module["main"]
    assert isinstance(main, Function)
    assert isinstance(main.body, Call)
    return name_of(main.body)


def value_for(type_: Type, given: Anything, random: np.random.Generator) -> Anything:
    if isinstance(type_, TupleType):
        return tuple([value_for(field, given, random) for field in type_.fields])
    assert isinstance(type_, TensorType)
    extents = tuple([dim for dim in type_.shape if isinstance(dim, int)])
    if given is not None:
        return np.asarray(given, type_.dtype)
    if "int" in type_.dtype:  # a place on an axis of at least 2; somewhere 1, so that it can also be a size
        return np.asarray(random.integers(0, 2, extents) | (np.indices(extents).sum(0) == 0), type_.dtype)
    values: Array = numbers(random, extents, type_.dtype)
    return values


def run_it(module: IRModule, *seed: object) -> None:
    typed = infer_types(module)
    main, random = typed["main"], rng(*seed)
    assert isinstance(main, Function)
    special = SPECIAL.get(name_in(typed), {})
    run(typed, [value_for(p.checked_type, special.get(p.name_hint), random) for p in main.params])


def test_every_operator_has_a_meaning() -> None:
    assert [name for name in Op.list_op_names() if Op.get(name).reference is None] == []


@pytest.mark.parametrize("call", EXAMPLES, ids=name_of)
def test_its_value_has_its_type(call: Call) -> None:
    run_it(program(call), name_of(call))


@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "uint8", "int64"])
def test_its_value_has_its_type_in_other_element_types(dtype: str) -> None:
    """Wherever inference accepts other elements than float32, the value has them too."""
    ran = set()
    for call in EXAMPLES:
        text = astext(infer_types(program(call))).replace("float32", dtype)
        try:
            module = parse(text)
            infer_types(module)
        except RelayError:
            continue
        if name_of(call) not in DIVIDING or dtype[0] == "f":
            run_it(module, name_of(call), dtype)
            ran.add(name_of(call))
    assert len(ran) > 120


def test_without_numpy_the_error_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "from relay_explorer.ir.op import Op\n"
        "try: Op.get('exp').reference(None, 1.0)\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "values need NumPy: pip install numpy"
