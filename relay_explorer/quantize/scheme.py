"""The interface of a quantization scheme: three decisions, each a method.

* `annotate` looks at a call of the float program and says which of its operands and results are quantized,
  and how: a `Quantizer` for each.
* `calibrate` computes the scale and zero point of a *site*, a place where a value is quantized, from the
  site's statistics. By default it calls the quantizer's calibrator.
* `realize` replaces a call by integer arithmetic, given operands that are integers.

`quantize`, `requantize` and `dequantize` build the conversions: from float to integers, between scales, and
back to float. The defaults use the dialect `qnn`. A scheme is a frozen dataclass; its options are its fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple
from typing import Any as Anything

from ..ir.errors import RelayError
from ..ir.expr import Call, Constant, Expr
from ..ir.hooks import hook
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.types import TensorType
from . import integers, scales
from .forward import Temporary
from .quantized import Quantized
from .quantizer import Parameters, Quantizer, Role
from .statistics import Statistics

if TYPE_CHECKING:
    from .annotation import Annotating


class Operand(NamedTuple):
    """An operand of a candidate call. `expr` is the annotated expression, and `original` the typed one in the
    float program. `role` is the role of the value if an earlier call quantized it, else None. `argument` is
    the annotated value, stored in few bits, of which this one is an element-wise function; None where there
    is none.
    """

    expr: Expr
    original: Expr
    role: Role | None
    argument: Expr | None = None

    @property
    def is_constant(self) -> bool:
        return isinstance(self.original, Constant)

    @property
    def rank(self) -> int:
        type_ = self.original.checked_type
        return len(type_.shape) if isinstance(type_, TensorType) else 0


class Candidate:
    """A call of an operator in the float program that a scheme may quantize.

    `call` is typed. `ordinal` is its index among the calls of the same operator in the program.
    """

    def __init__(self, call: Call, operands: Sequence[Operand], ordinal: int, annotating: Annotating) -> None:
        self.call = call
        self.operands = tuple(operands)
        self.ordinal = ordinal
        self._annotating = annotating

    @property
    def op(self) -> Op:
        assert isinstance(self.call.op, Op)
        return self.call.op

    @property
    def roles(self) -> tuple[Role | None, ...]:
        """The roles of the operands."""
        return tuple([operand.role for operand in self.operands])

    @property
    def users(self) -> Sequence[Call]:
        """The calls of operators that read the result of this one, or a field of it. Those that read a
        variable to which `let` binds it are not among them.
        """
        return self._annotating.users(self.call)

    @property
    def layer(self) -> int | None:
        """The index of this call among the products of the program (layers, matrix products); None for a call
        of another operator.
        """
        return self._annotating.layers.get(self.call)

    @property
    def layers(self) -> int:
        """The number of products in the program."""
        return len(self._annotating.layers)

    @property
    def stopped(self) -> str:
        """Why an earlier call ended the quantized part of the program; "" if none did."""
        return self._annotating.stopped

    def stop(self, why: str) -> None:
        """End the quantized part of the program. The scheme finds `why` in `stopped` of the later calls."""
        self._annotating.stopped = why


class Annotation(NamedTuple):
    """The decision to quantize a call. `operands` has a quantizer for each operand (a tuple counts as its
    fields), or None to use it unchanged. `result` is the role of the result, a quantizer for it, or None if
    it is a float.
    """

    operands: Sequence[Quantizer | None]
    result: Role | Quantizer | None = Role.ACTIVATION
    why: str = ""


class Keep(NamedTuple):
    """The decision to leave a call in float, and the reason. With `forwards`, only its operands are left:
    `realize` is still asked about the call where they are integers.
    """

    why: str
    forwards: bool = False


class Use(NamedTuple):
    """A call of the float program that reads or computes a quantized value: as an operand, or as its result
    where `operand` is None.
    """

    call: Call
    operand: int | None


@dataclass(frozen=True, eq=False)
class Site:
    """A place where a value is quantized: a value of the float program, and the calls that use it.

    `expr` is the value, and `uses` are the calls that asked for it to be quantized in this way; `call` and
    `operand` are the first of them. `why` says which rule of the scheme chose the quantizer. Calibration adds
    `statistics` and `parameters`. `simulated` is the call in the annotated program (from calibration on, in
    the calibrated one), and `realized` the integers that replace it; None until then.
    """

    index: int
    function: str
    expr: Expr
    uses: tuple[Use, ...]
    quantizer: Quantizer
    why: str = ""
    statistics: Statistics | None = None
    parameters: Parameters | None = None
    simulated: Expr | None = None
    realized: Expr | None = None

    @property
    def call(self) -> Call:
        return self.uses[0].call

    @property
    def operand(self) -> int | None:
        return self.uses[0].operand

    def plot(self, ax: Anything = None, *, theme: str = "light") -> Anything:
        """Draw the values that calibration saw, and the range that the integers cover:
        `relay_explorer.interop.plot_calibration`. Return matplotlib's Axes.
        """
        return hook("plot")(self, ax, theme=theme)

    def __str__(self) -> str:
        name = getattr(self.call.op, "name", "a call")
        part = "the result" if self.operand is None else f"operand {self.operand}"
        return f"{part} of `{name}` in @{self.function}"


def check_keep(keep: object) -> None:
    """Raise a RelayError where `keep`, an option of a scheme, is not a sequence of layers' numbers."""
    if isinstance(keep, (list, tuple, range, set, frozenset)) and all(isinstance(n, int) for n in keep):
        return
    raise RelayError(
        f"`keep` has the numbers of the layers that stay in float, not {keep!r:.40}",
        help=["for example, keep=(0, -1): the first and the last layer"],
    )


class Peers(NamedTuple):
    """Statistics and parameters of all sites of one call, by operand index (None for the result). Operands
    are calibrated in order, then the result; `parameters` has only those already calibrated.
    """

    call: Call
    statistics: Mapping[int | None, Statistics]
    parameters: Mapping[int | None, Parameters]


class Observed(NamedTuple):
    """The statistics of a site, and of all sites of the calls that use it."""

    statistics: Statistics
    peers: Sequence[Peers]


class Scheme:
    """A quantization scheme. Subclasses override what they decide differently."""

    name: ClassVar[str] = "scheme"
    # The optimization level of the passes that run first; None for that of the current context. From 3 on,
    # batch normalization is folded into the weights of layers.
    opt_level: ClassVar[int | None] = 3

    def prepare(self, mod: IRModule) -> IRModule:
        """Rewrite the float program before it is annotated; by default leave it as it is."""
        return mod

    def annotate(self, candidate: Candidate) -> Annotation | Keep | Temporary | Expr | None:
        """Decide how a call is quantized. None means that the scheme has no rule for it, so it stays in
        float. An expression replaces the call; so does a `forward.Temporary`, a value that only this phase
        knows and that its `realize` turns into an expression.
        """
        raise NotImplementedError(f"the scheme {self.name} has no `annotate`")

    def shared(self, value: Operand) -> Quantizer | None:
        """Return a quantizer for an annotated value that is used more than once; None to leave it."""
        return None

    def calibrate(self, site: Site, observed: Observed) -> Parameters:
        """Compute the scale and the zero point of a site."""
        calibrator = site.quantizer.calibrator
        if calibrator is None:
            raise RelayError(
                f"{site}: its quantizer has no calibrator, and {self.name} does not override `calibrate`",
                site.expr.span,
                help=["write Quantizer(…, calibrator=MaxAbs())"],
            )
        return calibrator(observed.statistics, site.quantizer)

    def needs_data(self, quantizer: Quantizer) -> bool:
        """Return whether a quantizer of activations can only be calibrated with data."""
        return bool(getattr(quantizer.calibrator, "needs_data", True))

    def quantize(self, data: Expr, site: Site) -> Quantized:
        """Convert a float to the integers of a site. A constant is converted at compile time."""
        return scales.quantized(self, data, site)

    def requantize(self, value: Quantized, site: Site) -> Quantized:
        """Convert integers to those of a site: another scale, zero point or type."""
        return scales.requantized(value, site)

    def dequantize(self, value: Quantized) -> Expr:
        """Convert integers to a float."""
        return scales.dequantized(value)

    def realize(
        self, call: Call, operands: Sequence[Quantized | Expr]
    ) -> Quantized | Sequence[Quantized] | Expr | None:
        """Replace a call of the annotated program, which is typed, by integer arithmetic. At least one of the
        operands (a tuple counts as its fields) is Quantized. A call whose result is a tuple may be replaced
        by a value for each field. None leaves the call in float.
        """
        return integers.realized(self, call, operands)
