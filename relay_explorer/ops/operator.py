"""Declare an operator by one decorated function, whose signature gives its builder, attributes and types.

    from relay_explorer.ops import IDENTITY, Gradient, OpPattern, Operand, attr, np, operator, t

    @operator(
        "my.scaled_relu",
        formula=r"y = \\alpha \\max(x, 0)",
        family="activation",
        relation=IDENTITY,
        pattern=OpPattern.ELEMENTWISE,
        reference=lambda attrs, x: attrs.alpha * np.maximum(x, 0),
        gradient=Gradient("dx = alpha · dy where x > 0, else 0", scaled_relu_gradient),
        lowering=scaled_relu_te,
        example=lambda build: build(t(2, 6), 3.0),
    )
    def scaled_relu(data: Operand, alpha: Annotated[float, attr(1.0, "The slope above zero.")] = 1.0) -> Call:
        \"\"\"Replace negative elements by zero, and multiply the others by `alpha`.\"\"\"


* A parameter that is `Annotated[…, attr(…)]` or `Annotated[…, required(…)]` is an attribute. The default of
  `attr` is that of the text format, where an attribute that has its default is not printed; the parameter's
  own default is the builder's. `attr(…, kind="Ints")` names the kind of the attribute where the parameter
  accepts more, and `attr(…, normal=pair)` a function that converts the argument to the attribute.
* Every other parameter is an operand: an `Operand`, which `arguments.expr` converts to an expression, or
  `Operands`, several of them, which become one tuple.
* If the body is only a docstring, the builder is derived. Any other body returns `call("my.scaled_relu", …)`.
* `attrs=` takes an `Attrs` class that several operators share: parameters named as its fields are attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import FunctionType
from typing import Any as Anything
from typing import ParamSpec, TypeVar

from ..ir.attrs import Attrs, derived_schema
from ..ir.declaration import Canonical, Gradient, NotApplicable, Precision, Trait
from ..ir.expr import Call, Expr
from ..ir.op import Flops, Op, OpPattern, Reference, Relation
from ..ir.tuple_wrapper import TupleWrapper
from .arguments import expr
from .builder import Builder, is_empty
from .layouts.layout import LayoutRule
from .numeric import checked
from .te.lowered import CANONICAL, Lowering

P = ParamSpec("P")
R = TypeVar("R")
DECLARED: set[str] = set()  # the package's own operators, which the book's reference describes
FAMILIES = (
    "arithmetic", "activation", "comparison", "reduction", "matmul", "convolution", "pooling",
    "normalization", "shape", "index", "creation", "image", "training", "quantization", "other",
)  # fmt: skip
Example = Callable[[Callable[..., Anything]], "Expr | TupleWrapper | Sequence[Expr | TupleWrapper]"]


def operator(
    name: str,
    *,
    formula: str,
    relation: Relation,
    description: str = "",
    family: str = "other",
    level: int = 10,
    pattern: OpPattern = OpPattern.OPAQUE,
    flops: Flops | None = None,
    reference: Reference | None = None,
    gradient: Gradient | NotApplicable | None = None,
    lowering: Lowering | str = "",
    canonical: Canonical | None = None,
    layout: LayoutRule | NotApplicable | None = None,
    precision: Precision | None = None,
    kernel_layouts: Mapping[str, str] | None = None,
    traits: Iterable[Trait] = (),
    example: Example | None = None,
    attrs: type[Attrs] | None = None,
    attrs_key: str = "",
    inputs: tuple[str, ...] | str | None = "",
    results: int | None = None,
    lenient_in_tvm: str = "",
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare the operator `name`; return a decorator for its builder.

    `description` is one sentence for readers, such as "Computes the sine of each element." It defaults to
    the docstring's first paragraph. `formula` is LaTeX without dollar signs. `family` is one of FAMILIES, by
    which explorers color the operator. `relation` is its type relation (`relay_explorer.ops.relation`),
    `pattern` says how the operator is fused, and `flops` returns the number of floating-point operations of a
    call, given its attributes, operand types and result type.

    `reference` is its reference implementation: a function of the attributes and of the operands' NumPy
    arrays (tuples of them for tuples), which returns an array, or a tuple of them, of the shape and element
    type that `relation` infers. `lowering` builds the computation of its kernel from a
    `relay_explorer.ops.te.lowered.Lowered`, or is HOST where Python runs the reference implementation. An
    operator with a `canonical` form needs none: the compiler replaces each call by that form, an equivalent
    expression of other operators (`relay_explorer.ops.canonical`), which computes the same elements.
    Passes read `gradient`, `layout` (a rule of `relay_explorer.ops.layouts`), `precision` and `traits`, which
    may be NotApplicable(reason); `kernel_layouts` gives ConvertLayout the default layout of a layer's weight
    for each layout of its data. `example` is a function of the builder that returns a well-typed call, or
    several.

    `inputs` names the operands where they are not the builder's parameters (None: any number); `results` is
    the number of fields of a result that is returned as a TupleWrapper. `attrs` is an explicit schema,
    `attrs_key` the key of a derived one; `lenient_in_tvm` states what more TVM's relation accepted.
    """
    if family not in FAMILIES:
        raise ValueError(f"{name}: unknown family {family!r}; supported are {', '.join(FAMILIES)}")

    def declared(function: Callable[P, R]) -> Callable[P, R]:
        assert isinstance(function, FunctionType)
        module = function.__module__ or ""  # None where code runs in a bare namespace
        builder = Builder(function, attrs)
        schema: type[Attrs] | Callable[[], type[Attrs]] | None = attrs
        if schema is None and builder.attributes:
            key = attrs_key or f"relay.attrs.{_camel(name)}Attrs"
            schema = derived_schema(key, builder.fields, module)
        op = Op(
            name,
            description=description or _first_line(function),
            formula=formula,
            inputs=builder.operands if isinstance(inputs, str) else inputs,
            relation=relation,
            attrs_class=schema,
            pattern=pattern,
            flops=flops,
            reference=None if reference is None else checked(reference),
            family=family,
            level=level,
            lenient_in_tvm=lenient_in_tvm,
            gradient=gradient,
            lowering=CANONICAL if canonical is not None and not lowering else lowering,
            canonical=canonical,
            layout=layout,
            precision=precision,
            kernel_layouts=kernel_layouts,
            traits=traits,
            module=module,
        )
        if module.startswith("relay_explorer.ops."):
            DECLARED.add(name)
        build = builder.derived(op, results) if is_empty(function.__code__) else function
        if example is not None:
            op.example = partial(example, build)
        Op.register(op)
        return build

    return declared


def call(name: str, operands: Sequence[object], **attrs: object) -> Call:
    """Build a call of the operator `name`, for builders that have a body of their own."""
    op = Op.get(name)
    schema = op.attrs_class
    return Call.of(
        op, tuple([expr(operand) for operand in operands]), None if schema is None else schema(**attrs)
    )


def _first_line(function: FunctionType) -> str:
    """Return a docstring's first paragraph as one line."""
    return " ".join((function.__doc__ or "").split("\n\n")[0].split())


def _camel(name: str) -> str:
    """Convert `nn.leaky_relu` to `LeakyRelu`."""
    return "".join(part[:1].upper() + part[1:] for part in name.rpartition(".")[2].split("_"))
