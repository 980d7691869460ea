"""Graphs of TensorFlow with random changes end in an error of the package, or are imported."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path
from typing import Any

import pytest

from relay_explorer.frontends import from_tensorflow
from relay_explorer.frontends.tensorflow.messages import parse
from relay_explorer.ir.errors import RelayError
from tests.frontends.tensorflow.graphs import Saved

ABSURD = (-1, 0, 7, 1 << 40, -(1 << 40))


def mutate(nodes: list[Any], choose: random.Random) -> None:
    """Change one node: its operands, its operator or an attribute."""
    node = choose.choice(nodes)
    kind = choose.randrange(6)
    if kind == 0 and node.input:
        node.input[choose.randrange(len(node.input))] = choose.choice(nodes).name
    elif kind == 1:
        node.op = choose.choice(nodes).op
    elif kind == 2 and node.input:
        del node.input[choose.randrange(len(node.input))]
    elif kind == 3:
        node.input.append(choose.choice(nodes).name)
    elif node.attr:
        key = choose.choice(sorted(node.attr))
        if kind == 4:
            del node.attr[key]
        else:
            change(node.attr[key], choose)


def change(attr: Any, choose: random.Random) -> None:
    """Change a number in an attribute, if it has one."""
    value = choose.choice(ABSURD)
    which = attr.WhichOneof("value")
    if which == "i":
        attr.i = value
    elif which == "type":
        attr.type = choose.choice((1, 2, 3, 7, 9, 10, 20))
    elif which == "list" and attr.list.i:
        attr.list.i[0] = value
    elif which == "shape" and attr.shape.dim:
        attr.shape.dim[0].size = value
    elif which == "tensor" and attr.tensor.tensor_shape.dim:
        attr.tensor.tensor_shape.dim[0].size = value
    elif which == "tensor" and attr.tensor.int_val:
        attr.tensor.int_val[0] = choose.choice((-1, 0, 99, 2**31 - 1))


@pytest.mark.parametrize(
    ("name", "seeds"),
    [
        ("attention", 40),
        ("conditionals", 60),
        ("layers", 30),
        ("lstm", 15),
        ("nested_loops", 60),
        ("selection", 60),
    ],
)
def test_ends_in_an_error_or_a_module_for_random_changes(name: str, seeds: int) -> None:
    saved = Saved(name)
    data = Path(saved.path).read_bytes()
    for seed in range(seeds):
        choose = random.Random(seed)
        graph = parse("GraphDef", data, name)
        for _ in range(choose.choice((1, 2, 4))):
            mutate(list(graph.node), choose)
        with contextlib.suppress(RelayError):
            from_tensorflow(graph, outputs=saved.names)


def test_refuses_a_loop_that_needs_its_own_result() -> None:
    saved = Saved("lstm")
    graph = parse("GraphDef", Path(saved.path).read_bytes(), "lstm")
    for node in graph.node:
        if node.op == "Enter" and node.attr["is_constant"].b:
            node.input[0] = "rnn/Exit_1"
            break
    with pytest.raises(RelayError):
        from_tensorflow(graph, outputs=saved.names)
