"""The exercise `operator_converter`: the converter of ONNX's RMSNormalization, as `convert_map` takes it.

    RMSNormalization(x, scale) {axis=-1, epsilon=1e-5, stash_type=1}

Each case is a node that is imported with the machinery of every importer (`frontends.base`), so that neither
ONNX nor a model file is needed. The expected results are computed here with NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Anything

from ...frontends.base.context import Context
from ...frontends.base.source import Node
from ...ir.expr import Call, Constant, Expr, Var, const
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.ndarray import NDArray
from ...ir.size import SizeVar
from ...ir.tuple_wrapper import TupleWrapper
from ...ir.types import Any, Dim, TensorType
from ...ir.walk import free_vars
from ..answer_values import repr_of

OPERATOR = "RMSNormalization"
EPSILON = 1e-5  # ONNX's default
COMPUTES = (
    "A converter computes no values: it builds a Relay expression that computes them when the model runs. "
    "Use the functions of `relay`, not those of NumPy."
)
STATIC, NAMED, UNKNOWN = "static", "named", "unknown"
_NAMES = ("batch", "time", "head", "part")

Attrs = tuple[tuple[str, Anything], ...]


@dataclass(frozen=True)
class Case:
    """A node to import, and the shapes and element types of its operands when the program runs.

    `attrs` has only the attributes that the file gives. `sizes` says how the types show the leading axes of
    `x`, those that `scale` lacks: "static", "named" or "unknown". `weight`: whether `scale` is a constant,
    rather than a parameter. `magnitude` is that of the elements of `x`.
    """

    shape: tuple[int, ...]
    scale: tuple[int, ...]
    attrs: Attrs = ()
    dtype: str = "float32"
    scale_dtype: str = "float32"
    sizes: str = STATIC
    weight: bool = True
    magnitude: float = 1.0
    seed: int = 0

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def axis(self) -> int:
        return int(dict(self.attrs).get("axis", -1))

    @property
    def epsilon(self) -> float:
        return float(dict(self.attrs).get("epsilon", EPSILON))

    def type_of_x(self) -> TensorType:
        """Return the type of `x` in the imported program."""
        leading = self.rank - len(self.scale)
        shape: list[Dim] = list(self.shape)
        for at in range(leading):
            if self.sizes == NAMED:
                shape[at] = SizeVar(_NAMES[at])
            elif self.sizes == UNKNOWN:
                shape[at] = Any()
        return TensorType.of(tuple(shape), self.dtype)

    def __str__(self) -> str:
        attrs = ", ".join(f"{key}={value}" for key, value in self.attrs)
        x, scale = numbers(self)
        kind = "constant" if self.weight else "parameter"
        lines = [
            f"%y = {OPERATOR}(%x, %scale)" + (f" {{{attrs}}}" if attrs else "") + ", where",
            f"x: {self.type_of_x()}" + (f" of shape {self.shape}" if self.sizes != STATIC else ""),
            f"scale: {TensorType.of(self.scale, self.scale_dtype)}, a {kind}",
            f"x = {shown(x)}",
            f"scale = {shown(scale)}",
        ]
        return "\n".join(lines)


def numbers(case: Case) -> tuple[Anything, Anything]:
    """Return the values of `x` and of `scale`: small numbers, none zero, times the magnitude."""
    import numpy as np

    rng = np.random.default_rng(case.seed)
    digits = [value for value in range(-9, 10) if value]
    x = rng.choice(digits, case.shape) * case.magnitude / 2
    scale = rng.choice([0.5, 1.5, 2.0, -1.0, 3.0], case.scale)
    return x.astype(case.dtype), scale.astype(case.scale_dtype)


def expected(case: Case) -> Anything:
    """Compute the node in NumPy, as ONNX defines it."""
    import numpy as np

    x, scale = numbers(case)
    wide = x.astype("float32")
    axes = tuple(range(case.axis % case.rank, case.rank))
    normalized = wide / np.sqrt(np.mean(wide * wide, axis=axes, keepdims=True) + np.float32(case.epsilon))
    return normalized.astype(case.dtype).astype(case.scale_dtype) * scale


class MisuseError(Exception):
    """The converter returned something that is no Relay expression; `hint` says what to return."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class Watched:
    """A learner's converter, whose result is inspected before the importer uses it. `error` is what it
    raised, which the importer replaces by an error that names the node.
    """

    def __init__(self, converter: Anything) -> None:
        self.converter = converter
        self.error: BaseException | None = None

    def __call__(self, node: Node, inputs: list[Expr]) -> Expr:
        try:
            return _one_expression(self.converter(node, inputs))
        except BaseException as error:
            self.error = error
            raise


def _one_expression(result: Anything) -> Expr:
    if not isinstance(result, Expr) and isinstance(result, (TupleWrapper, list, tuple)) and len(result) == 1:
        result = result[0]
    if isinstance(result, Expr):
        return result
    if result is None:
        raise MisuseError(
            "None", "Return the expression. Does every path through the converter end in a `return`?"
        )
    if type(result).__module__.partition(".")[0] == "numpy" or isinstance(result, (int, float, NDArray)):
        raise MisuseError(
            f"{repr_of(result, 80)}, a {type(result).__name__}",
            COMPUTES,
        )
    raise MisuseError(
        f"{repr_of(result, 80)}, a {type(result).__name__}",
        f"{OPERATOR} has one result: return its Relay expression.",
    )


@dataclass(frozen=True)
class Imported:
    """An imported node: the program, the type of the result, the type that it must have, and the names of
    `foreign` variables, which are no operands of the node.
    """

    module: IRModule
    type: TensorType
    right_type: TensorType
    foreign: tuple[str, ...]


def import_node(case: Case, converter: Callable[[Node, list[Expr]], Expr]) -> Imported:
    """Import the node of a case with the converter, as every importer does."""
    context = Context("model.onnx", "ONNX", {OPERATOR: converter})
    x = context.variable("x", case.type_of_x())
    _, value = numbers(case)
    scale: Expr = context.weight("scale", NDArray.sharing(value), freeze=case.weight)
    node = Node(OPERATOR, "norm", ("x", "scale"), ("y",), dict(case.attrs))
    (result,) = context.convert(node, [x, scale], None)
    type_ = context.tensor(result)
    params: list[Var] = [part for part in (x, scale) if isinstance(part, Var)]
    right_type = TensorType.of(context.shape(x), case.scale_dtype)
    foreign = tuple([var.name_hint for var in free_vars(result) if var not in params])
    return Imported(context.main(params, result), type_, right_type, foreign)


def run(case: Case, imported: Imported) -> Anything:
    """Run the imported program on the values of a case."""
    from ...execute import Interpreter

    x, scale = numbers(case)
    args = [const(x)] if case.weight else [const(x), const(scale)]
    module = imported.module
    return Interpreter(module).evaluate(Call(module.get_global_var("main"), args))


def example(converter: Callable[[Node, list[Expr]], Anything]) -> IRModule:
    """Import a small model, a feed-forward block of a language model, that uses the operator:
    `explore(example(convert), view="ir")`.
    """
    import numpy as np

    from ...ops import namespaces as relay

    context = Context("block.onnx", "ONNX", {OPERATOR: Watched(converter)})
    rng = np.random.default_rng(0)

    def weight(name: str, *shape: int) -> Expr:
        return Constant(NDArray.sharing(rng.normal(size=shape).astype("float32")), _line(name))

    def _line(name: str) -> Anything:
        return context.source.add(Node("weight", name, (), (name,)))

    def node(op: str, name: str, inputs: Sequence[Expr], build: Anything = None, **attrs: Anything) -> Expr:
        (result,) = context.convert(Node(op, name, (), (name,), attrs), list(inputs), build)
        return result

    x = context.variable("tokens", TensorType.of((SizeVar("batch"), 8), "float32"))
    normal = node(OPERATOR, "norm", [x, weight("gain", 8)], axis=-1, epsilon=1e-6)
    hidden = node("Gemm", "up", [normal, weight("up_weight", 16, 8)], lambda _, i: relay.nn.dense(*i))
    active = node("Relu", "act", [hidden], lambda _, i: relay.nn.relu(*i))
    down = node("Gemm", "down", [active, weight("down_weight", 8, 16)], lambda _, i: relay.nn.dense(*i))
    return context.main([x], node("Add", "residual", [x, down], lambda _, i: relay.add(*i)))


def shown(value: Anything, most: int = 24) -> str:
    """Write a tensor in a line."""
    import numpy as np

    if value.size > most:
        return f"{value.size} elements"
    with np.printoptions(precision=4, suppress=True):
        return np.array2string(value, separator=", ", max_line_width=10_000).replace("\n", "")
