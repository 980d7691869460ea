"""Declare an operator: one decorated function, whose signature is the builder, the schema and the types.

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
  own default is the builder's. `attr(…, kind="Ints")` names the kind of the value where the parameter takes
  more than that, and `attr(…, normal=pair)` a function that makes the value of what was given.
* Every other parameter is an operand: an `Operand`, which `arguments.expr` makes an expression of, or
  `Operands`, several of them as one tuple.
* A body that is only a docstring is derived. One that is written out returns `call("my.scaled_relu", …)`.
* `attrs=` takes an `Attrs` class that several operators share: parameters named as its fields are attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial, wraps
from types import CodeType, FunctionType
from typing import Any as Anything
from typing import ParamSpec, TypeVar, get_args

from ..ir.attrs import Attrs, Field, derived_schema
from ..ir.declaration import Gradient, NotApplicable, Precision, Trait
from ..ir.expr import Call, Expr
from ..ir.op import Compute, Flops, Op, OpPattern, Relation
from ..ir.tuple_wrapper import TupleWrapper
from .arguments import Operands, expr, tuple_expr
from .declare import DECLARED, FAMILIES, traits_of
from .layouts.layout import LayoutRule
from .numeric import meaning
from .te.lowered import Lowering

P = ParamSpec("P")
R = TypeVar("R")
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
    reference: Compute | None = None,
    gradient: Gradient | NotApplicable | None = None,
    lowering: Lowering | str = "",
    layout: LayoutRule | NotApplicable | None = None,
    precision: Precision | None = None,
    traits: Iterable[Trait] = (),
    example: Example | None = None,
    attrs: type[Attrs] | None = None,
    attrs_key: str = "",
    inputs: tuple[str, ...] | str | None = "",
    results: int | None = None,
    lenient_in_tvm: str = "",
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare the operator `name`: a decorator of its builder.

    `description` is one line for readers, the docstring's first paragraph if it is left out; `formula` LaTeX
    without dollar signs; `family` one of FAMILIES, by which explorers colour it; `relation` its type relation
    (`relay_explorer.ops.relation`); `pattern` how it fuses; `flops` how many floating-point operations a call
    performs, of its attributes, operand types and result type.

    `reference` is its reference implementation: a function of the attributes and of the operands' NumPy
    arrays (tuples of them for tuples), which returns an array, or a tuple of them, of the shape and element
    type that `relation` infers. `lowering` is the computation of its kernel, a function of a
    `relay_explorer.ops.te.lowered.Lowered`, or HOST: Python runs the reference implementation. `gradient`,
    `layout` (a rule of `relay_explorer.ops.layouts`), `precision` and `traits` answer what passes ask;
    NotApplicable(reason) is an answer, too. `example` makes a well-typed call,
    or several, with the builder that it is given.

    `inputs` names the operands where they are not the builder's parameters (None: any number); `results` says
    how many fields a result that is returned as a TupleWrapper has. `attrs` is an explicit schema,
    `attrs_key` the key of a derived one; `lenient_in_tvm` says where TVM's relation accepted more.
    """
    if family not in FAMILIES:
        raise ValueError(f"{name}: unknown family {family!r}; known are {', '.join(FAMILIES)}")

    def declared(function: Callable[P, R]) -> Callable[P, R]:
        assert isinstance(function, FunctionType)
        builder = _Builder(function, attrs)
        schema: type[Attrs] | Callable[[], type[Attrs]] | None = attrs
        if schema is None and builder.attributes:
            key = attrs_key or f"relay.attrs.{_camel(name)}Attrs"
            schema = derived_schema(key, builder.fields, function.__module__)
        op = Op(
            name,
            description=description or _first_line(function),
            formula=formula,
            inputs=builder.operands if isinstance(inputs, str) else inputs,
            relation=relation,
            attrs_class=schema,
            pattern=pattern,
            flops=flops,
            compute=None if reference is None else meaning(reference),
            family=family,
            level=level,
            lenient_in_tvm=lenient_in_tvm,
            gradient=gradient,
            lowering=lowering,
            layout=layout,
            precision=precision,
            traits=traits_of(name) | set(traits),
            module=function.__module__,
        )
        if function.__module__.startswith("relay_explorer.ops."):
            DECLARED.add(name)
        build = builder.derived(op, results) if _is_empty(function.__code__) else function
        if example is not None:
            op.example = partial(example, build)
        Op.register(op)
        return build

    return declared


def call(name: str, operands: Sequence[object], **attrs: object) -> Call:
    """Build a call of the operator `name`: what a builder returns whose body is written out."""
    op = Op.get(name)
    schema = op.attrs_class
    return Call(op, [expr(operand) for operand in operands], None if schema is None else schema(**attrs))


def _first_line(function: FunctionType) -> str:
    """A docstring's first paragraph as one line."""
    return " ".join((function.__doc__ or "").split("\n\n")[0].split())


def _camel(name: str) -> str:
    """`nn.leaky_relu` as `LeakyRelu`."""
    return "".join(part[:1].upper() + part[1:] for part in name.rpartition(".")[2].split("_"))


def _is_empty(code: CodeType) -> bool:
    """Whether a function's body is only a docstring: it uses no name, and so is as short as can be."""
    return not code.co_names and len(code.co_code) == len(_SHORTEST.co_code)


def _shortest() -> None:
    """Only a docstring."""


_SHORTEST: CodeType = _shortest.__code__


class _Builder:
    """The signature of a declared function, taken apart."""

    def __init__(self, function: FunctionType, schema: type[Attrs] | None) -> None:
        code = function.__code__
        self.function = function
        self.parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        annotations = function.__annotations__
        self.attributes = tuple(
            [
                name
                for name in self.parameters
                if (name in schema._fields if schema is not None else _is_attribute(annotations.get(name)))
            ]
        )
        self.operands = tuple([name for name in self.parameters if name not in self.attributes])
        self.tuples = frozenset([name for name in self.operands if annotations.get(name) in _TUPLES])

    def fields(self) -> list[Field]:
        """The attributes, as the annotations declare them."""
        return [_field(name, self.function) for name in self.attributes]

    def derived(self, op: Op, results: int | None) -> Anything:
        """The function that builds a call of `op`."""
        function, parameters = self.function, self.parameters
        arguments, count = self._arguments(), len(parameters)
        operands = [(parameters.index(name), name in self.tuples) for name in self.operands]
        attributes = [(name, parameters.index(name)) for name in self.attributes]

        def inputs(values: Sequence[Anything]) -> list[Expr]:
            return [
                tuple_expr(values[place], op.name)
                if packed
                else value
                if isinstance(value := values[place], Expr)
                else expr(value)
                for place, packed in operands
            ]

        @wraps(function)
        def build_plain(*args: Anything, **kwargs: Anything) -> Anything:
            values = args if len(args) == count and not kwargs else arguments(args, kwargs)
            return Call(op, [value if isinstance(value, Expr) else expr(value) for value in values])

        normals: list[tuple[str, Callable[[Anything], Anything]]] | None = None

        @wraps(function)
        def build(*args: Anything, **kwargs: Anything) -> Anything:
            nonlocal normals
            values = args if len(args) == count and not kwargs else arguments(args, kwargs)
            schema, attrs = op.attrs_class, None
            if schema is not None:
                if normals is None:
                    normals = [
                        (name, normal)
                        for name, _ in attributes
                        if (normal := schema._fields[name].normal) is not None
                    ]
                given = {name: values[place] for name, place in attributes}
                for name, normal in normals:
                    given[name] = normal(given[name])
                attrs = schema(**given)
            result = Call(op, inputs(values), attrs)
            return result if results is None else TupleWrapper(result, results)

        return build if attributes or self.tuples or results is not None else build_plain

    def _arguments(self) -> Callable[[tuple[Anything, ...], dict[str, Anything]], Sequence[Anything]]:
        """What puts the arguments of a call of the builder in the order of its parameters."""
        function, parameters = self.function, self.parameters
        count = function.__code__.co_argcount
        defaults = function.__defaults__ or ()
        required = count - len(defaults)
        by_name: dict[str, Anything] = dict(zip(parameters[required:count], defaults, strict=True))
        by_name |= function.__kwdefaults__ or {}

        def arguments(args: tuple[Anything, ...], kwargs: dict[str, Anything]) -> Sequence[Anything]:
            if not kwargs and required <= len(args) <= count == len(parameters):
                return args + defaults[len(args) - required :]
            values, unused = [*args], len(kwargs)
            for name in parameters[len(args) :]:
                if name in kwargs:
                    values.append(kwargs[name])
                    unused -= 1
                elif name in by_name:
                    values.append(by_name[name])
            if unused or len(args) > count or len(values) != len(parameters):
                function(*args, **kwargs)  # raises what Python says of such arguments
            return values

        return arguments


_TUPLES = ("Operands", Operands)


def _is_attribute(annotation: Anything) -> bool:
    """Whether an annotation, as text or as an object, is `Annotated[…]` with an `attr` or a `required`."""
    if isinstance(annotation, str):
        return annotation.startswith(("Annotated[", "typing.Annotated["))
    return any(isinstance(item, Field) for item in getattr(annotation, "__metadata__", ()))


def _field(name: str, function: FunctionType) -> Field:
    """The attribute that the parameter `name` declares."""
    annotation = function.__annotations__[name]
    if isinstance(annotation, str):
        kind, metadata = _split(annotation)
        field = eval(metadata, function.__globals__)  # the module's own text, as typing.get_type_hints does
    else:
        field = next(item for item in annotation.__metadata__ if isinstance(item, Field))
        type_ = annotation.__origin__
        kind = type_.__name__ if isinstance(type_, type) and not get_args(type_) else str(type_)
        kind = kind.replace("tuple[int, ...]", "Ints").replace("tuple[float, ...]", "Floats")
    return Field(name, field.kind or kind, field.default, field.doc, field.normal)


def _split(annotation: str) -> tuple[str, str]:
    """The two arguments of `Annotated[…, …]`, as text."""
    inside = annotation[annotation.index("[") + 1 : -1]
    depth = 0
    for place, character in enumerate(inside):
        depth += (character in "[(") - (character in ")]")
        if character == "," and depth == 0:
            return inside[:place], inside[place + 1 :].strip()
    raise TypeError(f"`{annotation}` has no attr(…) or required(…)")
