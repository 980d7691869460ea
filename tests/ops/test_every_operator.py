"""What holds of every operator: it explains itself, has TVM's name, and survives arguments of any type."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any as Anything

import pytest

from relay_explorer.ir.attrs import KINDS, REQUIRED, Attrs
from relay_explorer.ir.expr import Call
from relay_explorer.ir.op import PATTERN_NAMES, Op, RelationError
from relay_explorer.ir.types import (
    Any,
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    RefType,
    SizeVar,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeVar,
)
from relay_explorer.ops import NAMESPACES, builders
from relay_explorer.ops.operator import FAMILIES

NAMES = Op.list_op_names()
BUILDERS = {
    f"{namespace}.{name}".lstrip("."): build
    for namespace in NAMESPACES
    for name, build in builders(namespace).items()
}
TENSOR = TensorType((2, 3))
STRANGE: list[Type] = [
    TupleType([]),
    TupleType([TENSOR, TupleType([TENSOR])]),
    TupleType([TENSOR, FuncType([TENSOR], TENSOR)]),
    FuncType([TENSOR], TENSOR),
    RefType(TENSOR),
    TypeVar("t"),
    TypeCall(GlobalTypeVar("List"), [TENSOR]),
    GlobalTypeVar("List"),
    TensorType(()),
    TensorType((Any(),)),
    TensorType((SizeVar("n"), 0, 5)),
    TensorType((2, 3), "int32"),
    TensorType((2, 3), "bool"),
    TensorType((1, 2, 3, 4)),
    TensorType((1, 2, 3, 4, 5)),
    IncompleteType(),
]
WORTHS: dict[str, list[Anything]] = {
    "int": [0, 1, -1, 7], "float": [0.0, 1.0], "bool": [False, True], "str": ["NCHW", "both", "", "<b>"],
    "DType": ["float32", "int8"], "Ints": [(), (0,), (1, 1), (-1, 0, 2), (0, 0, 0, 0)], "Floats": [(0.5,)],
    "Dims": [(1, 1)], "int | Ints": [2, (1,), ()], "Number": [1, 0], "Pairs": [((0, 0), (1, 1)), ()],
    "VirtualDevice": ["cuda:1", ""],
}  # fmt: skip


def values_for(attrs_class: type[Attrs], turn: int) -> Attrs:
    """Attributes that are allowed by their kinds, though seldom sensible; another choice each `turn`."""
    values = {}
    for place, field in enumerate(attrs_class._fields.values()):
        choices: list[object] = list(WORTHS[field.kind.removesuffix(" | None")])
        if field.kind.endswith("| None"):
            choices.append(None)
        if field.default is not REQUIRED:
            choices += [field.default] * 2
        values[field.name] = choices[(turn * 7 + place * turn) % len(choices)]
    return attrs_class(**values)


def refusal(op: Op, types: list[Type], attrs: Attrs | None) -> RelationError | None:
    """How the relation refuses these types; None where it holds, or waits for more to become known."""
    try:
        done = op.relation.rule([*types, IncompleteType()], len(types), attrs, Learner())
    except RelationError as failure:
        return failure
    assert done in (True, False)
    return None


class Learner:
    """A reporter that only listens."""

    def assign(self, target: Type, value: Type) -> None:
        assert isinstance(target, Type)
        assert isinstance(value, Type)
        str(value)


@pytest.mark.parametrize("name", NAMES)
def test_it_explains_itself(name: str) -> None:
    op = Op.get(name)
    assert re.fullmatch(r"[A-Z][a-z]*s [^\n]*[^. \n]\.", op.description), op.description  # "Computes …"
    assert len(op.description) <= 120
    assert op.formula
    assert op.formula.count("{") == op.formula.count("}")
    assert op.family in FAMILIES
    assert op.pattern in PATTERN_NAMES
    assert 1 <= op.level <= 11
    assert op.lenient_in_tvm == "" or op.lenient_in_tvm.endswith(".")
    for field in op.attrs_class._fields.values() if op.attrs_class else ():
        assert field.kind in KINDS
        assert re.fullmatch(r"[^\n]+\.", field.doc), (field.name, field.doc)


@pytest.mark.parametrize("name", NAMES)
def test_its_law_names_its_types(name: str) -> None:
    op = Op.get(name)
    arguments = {str(n): f"<{n}>" for n in range(len(op.inputs or ()))}
    formula = op.relation.formula
    assert "{out}" in formula
    named = set(re.findall(r"\{(\d+)\}", formula))
    assert named <= set(arguments), f"{formula} names an argument that {name} does not have"


def test_names_and_attribute_keys_are_the_references() -> None:
    assert len(NAMES) >= 150
    for name in NAMES:
        schema = Op.get(name).attrs_class
        key = "" if schema is None else schema._key
        assert key == "" or re.fullmatch(r"relay\.attrs\.[A-Z]\w+", key), (name, key)


@pytest.mark.parametrize("name", NAMES)
def test_it_has_a_builder_of_its_name(name: str) -> None:
    plain = name.replace("contrib_", "").removeprefix("dyn.")
    names = (
        plain,
        name.lower(),
        f"annotation.{name}",
        name.removeprefix("relay.op."),
    )  # as TVM had them
    build = next(BUILDERS[candidate] for candidate in names if candidate in BUILDERS)
    assert build.__doc__
    assert inspect.signature(build).parameters or name == "zeros"


def test_every_builder_is_documented() -> None:
    for name, build in BUILDERS.items():
        assert build.__doc__, name
        assert "\n" not in build.__doc__.strip().split("\n\n")[0] or len(build.__doc__) < 400, name


@pytest.mark.parametrize("name", NAMES)
def test_its_relation_survives_any_types_and_attributes(name: str) -> None:
    op = Op.get(name)
    arity = len(op.inputs) if op.inputs is not None else 2
    for turn in range(60):
        attrs = values_for(op.attrs_class, turn) if op.attrs_class else None
        types = [STRANGE[(turn * (place + 1) + place * 5) % len(STRANGE)] for place in range(arity)]
        failure = refusal(op, types, attrs)
        if failure is not None:
            assert failure.message
            assert "\n" not in failure.message
            assert all(0 <= culprit < max(1, arity) for culprit in failure.culprits), failure.culprits
            assert all(isinstance(text, str) and text for text in failure.help)


@pytest.mark.parametrize("name", NAMES)
def test_its_work_can_be_counted(name: str) -> None:
    op = Op.get(name)
    if op.attrs_class is None and op.inputs is not None:
        types = [TENSOR] * len(op.inputs)
        assert op.flops(None, types, TENSOR) >= 0


def test_importing_the_package_declares_nothing() -> None:
    import subprocess
    import sys

    program = (
        "import relay_explorer.ops, sys; from relay_explorer.ir.op import Op; assert not Op._registry; "
        "Op.load_all(); assert len(Op._registry) > 100; assert 'numpy' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_declaring_a_name_twice_is_an_error() -> None:
    module = importlib.import_module("relay_explorer.ops.unary.exponential")
    assert isinstance(module.exp, type(lambda: None))
    with pytest.raises(ValueError, match="an operator called `exp` already exists"):
        Op.register(Op.get("exp"))


def test_calls_hold_the_declared_attributes() -> None:
    for name in ("sum", "concatenate", "nn.conv2d", "image.resize2d"):
        schema = Op.get(name).attrs_class
        assert schema is not None
        assert schema._key.startswith("relay.attrs.")
    assert isinstance(BUILDERS["exp"](Call(Op.get("zeros"), [])), Call)
