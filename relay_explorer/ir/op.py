"""Operators as expressions, and their registry. Each is declared in one place in `ops/`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any as Anything
from typing import ClassVar, NamedTuple, Protocol

from .attrs import Attrs
from .declaration import Canonical, Gradient, NotApplicable, Precision, Trait
from .errors import RelayError, UnknownOperatorError
from .expr import Expr
from .hooks import hook
from .types import TensorType, Type


class OpPattern(IntEnum):
    """How an operator may be fused, from the simplest to the most opaque; numbered and named as in TVM."""

    ELEMWISE = 0
    BROADCAST = 1
    INJECTIVE = 2
    COMM_REDUCE = 3
    OUT_ELEMWISE_FUSABLE = 4
    TUPLE = 7
    OPAQUE = 8
    ELEMENTWISE = ELEMWISE
    REDUCTION = COMM_REDUCE


PATTERN_NAMES: dict[int, str] = {
    OpPattern.ELEMWISE: "element-wise",
    OpPattern.BROADCAST: "broadcast",
    OpPattern.INJECTIVE: "injective",
    OpPattern.COMM_REDUCE: "reduction",
    OpPattern.OUT_ELEMWISE_FUSABLE: "complex-out-fusable",
    OpPattern.TUPLE: "tuple",
    OpPattern.OPAQUE: "opaque",
}


class Reporter(Protocol):
    """The interface through which a type relation reports what it infers."""

    def assign(self, target: Type, value: Type) -> None:
        """Unify `target`, one of the relation's types or a part of one, with `value`."""


class RelationError(Exception):
    """Raised by a relation that cannot hold.

    `message` is one sentence about the operator's own rule; `culprits` are the indices of the arguments that
    disagree, or, where one tuple is at fault, `fields` the indices of its two fields that do; `help` says
    what to try.
    """

    def __init__(
        self,
        message: str,
        *help: str,
        culprits: tuple[int, ...] = (),
        fields: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.help = help
        self.culprits = culprits
        self.fields = fields


Rule = Callable[[Sequence[Type], int, Anything, Reporter], bool]


class Relation(NamedTuple):
    """A type relation: a `rule`, and its `formula` in one line, where `{0}`, `{1}` … are the arguments' types
    and `{out}` is the result's.

    The rule takes the types of the arguments and of the result (as far as they are known: an unknown type is
    an IncompleteType), the number of inputs among them, the attributes, and a Reporter. It assigns the types
    that it infers and returns whether it is solved. Where too little is known it returns False, and the
    solver runs it again when one of its types becomes known. It raises a RelationError where it cannot hold.
    """

    name: str
    rule: Rule
    formula: str


Flops = Callable[[Anything, Sequence[Type], Type], int]
# A function of the attributes and the arguments' values: NumPy arrays, or tuples of them.
Reference = Callable[..., Anything]


def no_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """Return 0: the operator only moves data."""
    return 0


def flops_per_output(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """Return one operation per element of the (first) output."""
    return size_of(output)


def flops_per_input(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """Return one operation per element of the first input."""
    return size_of(inputs[0])


def size_of(type_: Type) -> int:
    """Return the number of elements of a tensor (of a tuple's first field), with 1 for an unknown
    dimension.
    """
    fields = getattr(type_, "fields", None)
    if fields:
        return size_of(fields[0])
    count = 1
    if isinstance(type_, TensorType):
        for dim in type_.shape:
            count *= dim if isinstance(dim, int) else 1
    return count


# By TVM's name of a property: how to compute it from a declaration. The module that reads it registers it.
PROPERTIES: dict[str, Callable[[Op], Anything]] = {
    "TNonComputational": lambda op: op.has(Trait.NON_COMPUTATIONAL) or None,
}


class Op(Expr):
    """An operator. Each name has one object; `Op.get(name)` returns it.

    Fields: `name`; `description`, one line; `formula`, its definition; `inputs`, the names of its operands
    (None: any number, as one tuple or several operands); `attrs_class`, the schema of its attributes or None;
    `relation`, its type relation (see `relay_explorer.ops.relation`); `pattern`, how it fuses; `flops`, the
    number of floating-point operations of a call, as a function of its attributes, operand types and result
    type; `reference`, its reference implementation in NumPy, or None; `family`, the group by which explorers
    color it; `level`, its support level in TVM's list; `lenient_in_tvm`, the cases that TVM's relation
    accepted and this one rejects; `gradient`, `lowering`, `canonical`, `layout`, `precision`, `traits` and
    `example`, which passes, code generators and the book read (see `relay_explorer.ops.operator`), each None
    where nothing was declared.
    """

    __slots__ = (
        "_attrs",
        "_schema",
        "canonical",
        "description",
        "example",
        "family",
        "flops",
        "formula",
        "gradient",
        "inputs",
        "kernel_layouts",
        "layout",
        "lenient_in_tvm",
        "level",
        "lowering",
        "module",
        "name",
        "pattern",
        "precision",
        "reference",
        "relation",
        "traits",
    )
    __setattr__ = object.__setattr__  # type: ignore[assignment]  # TVM code completes a declaration step by step
    __delattr__ = object.__delattr__
    _registry: ClassVar[dict[str, Op]] = {}

    def __init__(
        self,
        name: str,
        *,
        description: str,
        formula: str,
        inputs: tuple[str, ...] | None,
        relation: Relation,
        attrs_class: type[Attrs] | Callable[[], type[Attrs]] | None = None,
        pattern: int = OpPattern.OPAQUE,
        flops: Flops | None = None,
        reference: Reference | None = None,
        family: str = "other",
        level: int = 10,
        lenient_in_tvm: str = "",
        gradient: Gradient | NotApplicable | None = None,
        lowering: Callable[[Anything], Sequence[Anything]] | str = "",
        canonical: Canonical | None = None,
        layout: Callable[[Anything], Anything] | NotApplicable | None = None,
        precision: Precision | None = None,
        kernel_layouts: Mapping[str, str] | None = None,
        traits: Iterable[Trait] = (),
        example: Callable[[], Anything] | None = None,
        module: str = "",
    ) -> None:
        self._unlock()
        self.name = name
        self.description = description
        self.formula = formula
        self.inputs = inputs
        self.relation = relation
        self._schema = attrs_class
        self.pattern = OpPattern(pattern)
        self.flops: Flops = flops or no_flops
        self.reference = reference
        self.gradient = gradient
        self.lowering = lowering
        self.canonical = canonical
        self.layout = layout
        self.precision = precision
        self.kernel_layouts: Mapping[str, str] = kernel_layouts or {}
        self.traits = frozenset(traits)
        self.example = example
        self.module = module
        self.family = family
        self.level = level
        self.lenient_in_tvm = lenient_in_tvm
        self._attrs: dict[str, tuple[Anything, int]] = {}
        self._lock(None)

    @property
    def attrs_class(self) -> type[Attrs] | None:
        """The schema of the operator's attributes, or None."""
        schema = self._schema
        if schema is None or isinstance(schema, type):
            return schema
        self._schema = schema = schema()
        return schema

    @attrs_class.setter
    def attrs_class(self, schema: type[Attrs] | Callable[[], type[Attrs]] | None) -> None:
        self._schema = schema

    def has(self, trait: Trait) -> bool:
        """Whether the operator has a trait."""
        return trait in self.traits

    @property
    def num_inputs(self) -> int:
        """The number of arguments of a call; -1 if it may have any number."""
        return -1 if self.inputs is None else len(self.inputs)

    @staticmethod
    def get(name: str) -> Op:
        """Return the operator called `name`. Raise an UnknownOperatorError that suggests similar names where
        there is none.
        """
        registry = Op._registry
        if name not in registry:
            Op.load_all()
        if name not in registry:
            import difflib

            near = difflib.get_close_matches(name[:200], registry, n=3, cutoff=0.6)
            help = [f"did you mean {' or '.join(f'`{n}`' for n in near)}?"] if near else []
            if why := hook("why_left_out")(name):
                help = [f"TVM's operator of that name is left out: {why}"]
            raise UnknownOperatorError(f"there is no operator called `{name[:200]}`", help=help)
        return registry[name]

    @staticmethod
    def load_all() -> None:
        """Load the operators of `relay_explorer.ops`; they register themselves at the first lookup."""
        hook("load_operators")()

    @staticmethod
    def list_op_names() -> list[str]:
        Op.load_all()
        return sorted(Op._registry)

    @staticmethod
    def find(name: str) -> Op | None:
        """Return the operator called `name`, or None."""
        if name not in Op._registry:
            Op.load_all()
        return Op._registry.get(name)

    @staticmethod
    def names_with(trait: Trait) -> list[str]:
        """Return the names of all operators that have a trait."""
        return [name for name in Op.list_op_names() if Op._registry[name].has(trait)]

    @staticmethod
    def register(op: Op) -> Op:
        """Register `op` under its name; raise a ValueError where the name is taken."""
        if op.name in Op._registry:
            raise ValueError(f"an operator called `{op.name}` already exists")
        Op._registry[op.name] = op
        return op

    @staticmethod
    def unregister(name: str) -> None:
        """Remove an operator from the registry: for exercises and tests that declare their own."""
        Op._registry.pop(name, None)

    def get_attr(self, key: str) -> Anything:
        """Return a property by the name that TVM gave it (`TOpPattern`), or one set with `set_attr`; None
        where there is none.
        """
        if key == "TOpPattern":
            return self.pattern
        if key not in self._attrs and key in PROPERTIES:
            return PROPERTIES[key](self)
        return self._attrs.get(key, (None, 0))[0]

    def set_attr(self, key: str, value: Anything, plevel: int = 10) -> None:
        """Set a property, unless it was set with a higher `plevel`. Raise a RelayError where it was set with
        the same one.
        """
        if key == "TOpPattern":
            self.pattern = OpPattern(int(value))
            return
        own = self._attrs.get(key)
        if own is not None and own[1] == plevel:
            raise RelayError(
                f"`{key}` of `{self.name}` is already set, with plevel={plevel}",
                help=["give a higher plevel, or call reset_attr first"],
            )
        if own is None or own[1] < plevel:
            self._attrs[key] = (value, plevel)

    def reset_attr(self, key: str) -> None:
        """Remove a property."""
        self._attrs.pop(key, None)

    def has_attr(self, key: str) -> bool:
        return self.get_attr(key) is not None

    def __reduce__(self) -> tuple[Callable[[str], Op], tuple[str]]:
        return (Op.get, (self.name,))
