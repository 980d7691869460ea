"""The rows of the float program and of the integer program, and from which row each integer line came."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from ...ir.expr import Call, Constant, Expr, Function, GlobalVar, Let, Var
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.types import TensorType, TupleType
from ...ir.walk import children, post_order
from ...quantize import Quantization
from ...quantize.following import keeps_scale
from ...quantize.integers import is_product
from ..evaluation.rows import types_named
from ..format import Row
from ..pipeline.origins import Origins
from ..rows import ProgramRows, program_rows
from .format import Fate, Item, LineKind

_BY_OPERATOR = {
    "qnn.quantize": LineKind.QUANTIZE,
    "qnn.requantize": LineKind.REQUANTIZE,
    "qnn.dequantize": LineKind.DEQUANTIZE,
}


class Programs:
    """The two programs in rows, and the rows between which an expression of any phase belongs."""

    def __init__(self, quantization: Quantization) -> None:
        self.quantization = quantization
        self.float_rows: ProgramRows = program_rows(_reachable(quantization.float_program))
        self.integer_rows: ProgramRows = program_rows(_reachable(quantization.realized))
        self.split = len(self.float_rows.source)
        self.items: list[Item] = []
        self._known: dict[Expr, int] = {}
        for row in range(self.split):
            if (expr := self.float_rows.defines(row)) is not None:
                self._known[expr] = row
        self._origins = Origins(self._known)
        self._simulated = {
            site.simulated: site.index for site in quantization.sites if site.simulated is not None
        }
        self._sites = Origins(self._simulated)
        self._requantized = {change.site for change in quantization.requantizations}
        uses = [use for site in quantization.sites for use in site.uses]
        self._quantized = {self.row(use.call) for use in uses if use.operand is not None}
        self.lines = self._lines()

    # -- the float program

    def row(self, expr: Expr) -> int:
        """Return the row of the float program that an expression came from; for a constant, that of the first
        call that uses it; -1 if there is none.
        """
        if isinstance(expr, Let):
            expr = expr.var
        came = self._origins.add(expr, 0)
        if came:
            return max(came)
        return self.float_rows.row(expr)

    def expr(self, row: int) -> Expr | None:
        """Return the expression that a row of the float program defines; for a variable, its value."""
        defined = self.float_rows.defines(row)
        return self._values.get(defined, defined) if isinstance(defined, Var) else defined

    def name(self, row: int) -> str:
        """Return the name of a row's value: `%3`, `%x`; "" for a result without a name."""
        defined = self.float_rows.defines(row)
        return (self.float_rows.name(defined) or "") if defined is not None else ""

    def title(self, row: int) -> str:
        """Return the name of a row's value with its operator: `%3 nn.conv2d`."""
        expr = self.expr(row)
        op = expr.op.name if isinstance(expr, Call) and isinstance(expr.op, Op) else ""
        return " ".join(filter(None, (self.name(row), op))) or self.float_rows.rows[row].text.strip()

    @cached_property
    def calls(self) -> dict[int, None]:
        """Return the rows that call an operator, in order; membership takes constant time."""
        rows: dict[int, None] = {}
        for row in range(self.split):
            expr = self.expr(row)
            if isinstance(expr, Call) and isinstance(expr.op, Op):
                rows[row] = None
        return rows

    @cached_property
    def read(self) -> frozenset[int]:
        """Return the rows whose values calls of operators read."""
        return frozenset(row for call in self.calls for row in self.inputs(call))

    @cached_property
    def _lines_of(self) -> dict[int, list[tuple[int, LineKind]]]:
        """Return, by row of the float program, its lines in the integer program with their kinds."""
        lines: dict[int, list[tuple[int, LineKind]]] = {}
        for at, (source, kind) in enumerate(self.lines):
            lines.setdefault(source, []).append((at, kind))
        return lines

    def is_measured(self, row: int) -> bool:
        """Whether the error of a row is measured: it calls an operator that returns a floating-point tensor,
        or is a parameter of `@main`, which is exact.
        """
        expr = self.expr(row)
        if not isinstance(expr, Call) or not isinstance(expr.op, Op):
            return self.is_parameter(row)
        return isinstance(expr._checked_type, TensorType) and _dtype(expr).startswith("float")

    def comes_from_elsewhere(self, row: int) -> bool:
        """Whether a row's value is computed by another function: a parameter, or the result of a call."""
        return isinstance(expr := self.expr(row), Var) or (
            isinstance(expr, Call) and not isinstance(expr.op, Op)
        )

    @cached_property
    def _parameters(self) -> frozenset[Expr | None]:
        main = self.quantization.float_program["main"]
        return frozenset(main.params if isinstance(main, Function) else ())

    def is_parameter(self, row: int) -> bool:
        """Whether a row is a parameter of `@main`."""
        return self.expr(row) in self._parameters

    def keeps_scale(self, row: int) -> bool:
        """Whether a row calls an operator whose integer result has the scale of its operand."""
        expr = self.expr(row)
        return isinstance(expr, Call) and isinstance(expr.op, Op) and keeps_scale(expr.op)

    def is_product(self, row: int) -> bool:
        """Whether a row calls an operator that sums products of its operands' elements."""
        expr = self.expr(row)
        return isinstance(expr, Call) and isinstance(expr.op, Op) and is_product(expr.op)

    def is_layer(self, row: int) -> bool:
        """Whether a row is a product with a constant."""
        expr = self.expr(row)
        return self.is_product(row) and any(isinstance(arg, Constant) for arg in expr.args)  # type: ignore[union-attr]  # a call

    def inputs(self, row: int) -> list[int]:
        """Return the rows of the values that a row reads."""
        expr = self.expr(row)
        pending = [] if expr is None else [part for part in children(expr) if not isinstance(part, Op)]
        rows: dict[int, None] = {}
        while pending:
            part = pending.pop()
            at = self.float_rows.row(part) if isinstance(part, Var) else self._known.get(part, -1)
            if at >= 0:
                rows[at] = None
            elif not isinstance(part, (Function, Constant)):
                pending += children(part)
        return list(rows)

    @cached_property
    def _values(self) -> dict[Expr, Expr]:
        return _bound(self.quantization.float_program)

    @cached_property
    def _integer_values(self) -> dict[Expr, Expr]:
        return _bound(self.quantization.realized)

    # -- the integer program

    def _lines(self) -> list[tuple[int, LineKind]]:
        """Return the source row and the kind of every row of the integer program."""
        lines: list[tuple[int, LineKind]] = []
        for row in range(len(self.integer_rows.source)):
            defined = self.integer_rows.defines(row)
            value = self._integer_values.get(defined, defined) if defined is not None else None
            source, kind = -1, LineKind.OTHER
            if defined is not None and value is not None:
                source = self._source(value, lines)
                if isinstance(value, Call):
                    kind = self._kind(value, lines)
            lines.append((source, kind))
        return lines

    def _source(self, expr: Expr, lines: Sequence[tuple[int, LineKind]]) -> int:
        """Return the row of the float program beside which an expression of the integer program stands: that
        of its origin, or if a phase inserted it, that of its operand in the `lines` before.
        """
        came = self._origins.add(expr, 0)
        if came:
            return max(came)
        before = [
            lines[at][0] for part in children(expr) if 0 <= (at := self.integer_rows.row(part)) < len(lines)
        ]
        return next((source for source in before if source >= 0), -1)

    def _kind(self, call: Call, lines: Sequence[tuple[int, LineKind]]) -> LineKind:
        """Return what a call of the integer program is for; `lines` are those before it."""
        if not isinstance(call.op, Op):
            return LineKind.OTHER
        if call.op.name in _BY_OPERATOR:
            return _BY_OPERATOR[call.op.name]
        is_float = _dtype(call).startswith("float")
        sites = self._site_of(call)
        if sites:
            return LineKind.REQUANTIZE if self._requantized & set(sites) else LineKind.QUANTIZE
        if not call.origin or not self._origins.add(call, 0):
            # A phase inserted it: it leaves integers, or completes what the call before it does.
            at = self.integer_rows.row(call.args[0]) if call.args else -1
            before = lines[at][1] if 0 <= at < len(lines) else LineKind.OTHER
            if before in (LineKind.QUANTIZE, LineKind.REQUANTIZE) and not is_float:
                return before
            return LineKind.DEQUANTIZE if is_float else LineKind.COMPUTE
        return LineKind.FLOAT if is_float else LineKind.COMPUTE

    def _site_of(self, call: Call) -> tuple[int, ...]:
        """Return the site whose simulated quantization a call realizes."""
        pending: list[Expr] = [call]
        seen: set[int] = set()
        while pending:
            expr = pending.pop()
            if expr in self._simulated:
                return (self._simulated[expr],)
            if id(expr) in seen or expr in self._known:
                continue
            seen.add(id(expr))
            pending += expr.origin
        return ()

    def result_type(self, line: int) -> str:
        """Return the element type that a line of the integer program computes."""
        defined = self.integer_rows.defines(line)
        return _dtype(defined) if defined is not None else ""

    def product_line(self, row: int, lines: Sequence[int]) -> int:
        """Return which of some lines multiplies: the last that calls the operator of `row`, in its own or its
        integer form; else the last line.
        """
        expr = self.expr(row)
        wanted = _operator(expr).split(".")[-1]
        named = [line for line in lines if _operator(self._integer_value(line)).split(".")[-1] == wanted]
        return (named or lines)[-1]

    def _integer_value(self, line: int) -> Expr | None:
        """Return the expression that a line of the integer program computes."""
        defined = self.integer_rows.defines(line)
        return self._integer_values.get(defined, defined) if defined is not None else None

    def operand_types(self, line: int) -> list[str]:
        """Return the element types of the first two operands of a line of the integer program."""
        call = self._integer_value(line)
        return [_dtype(arg) for arg in call.args[:2]] if isinstance(call, Call) else []

    @cached_property
    def _result(self) -> Expr:
        """The expression of the program's result: a call, or the name of a value."""
        main = self.quantization.float_program["main"]
        assert isinstance(main, Function)
        body = main.body
        while isinstance(body, Let):
            body = body.body
        return body

    def computes_result(self, row: int) -> bool:
        """Whether a row computes the program's result."""
        return row == self.float_rows.row(self._result)

    def target(self) -> int:
        """Return the row whose error tells how good the result is: that of the result, or if calls without
        any quantizer compute the result from one value, that of this value; -1 for a result without a row.
        """
        row = result = self._known.get(self._result, -1)
        while row >= 0 and self.fate(row) == Fate.FLOAT and not self.is_layer(row):
            inputs = self.inputs(row)
            if len(inputs) != 1 or inputs[0] not in self.calls:
                break
            (row,) = inputs
        return -1 if row == result else row

    def integer_target(self, target: int) -> Callable[[Expr], int]:
        """Return a function that finds the value of `target` in the integer program, as a float: the operand
        of the call that reads it.
        """
        operands: set[Expr] = set()
        readers = {row for row in self.calls if self.inputs(row) == [target]}
        for node in post_order(self.quantization.realized["main"]):
            if isinstance(node, Call) and self._origins.add(node, 0) and self.row(node) in readers:
                own = self.expr(self.row(node))
                if isinstance(own, Call) and own.op is node.op and _dtype(node.args[0]).startswith("float"):
                    operands.add(node.args[0])
        return lambda expr: target if expr in operands else -1

    def fate(self, row: int) -> Fate:
        """Return what became of a call of the float program."""
        expr = self.expr(row)
        if not isinstance(expr, Call) or not isinstance(expr.op, Op) or not _dtype(expr).startswith("float"):
            return Fate.NONE
        wanted = expr.op.name.removeprefix("nn.")
        quantized = row in self._quantized
        fate = Fate.GONE
        for at, kind in self._lines_of.get(row, ()):
            line = self.integer_rows.defines(at)
            own = getattr(getattr(line, "op", None), "name", "")
            if kind == LineKind.COMPUTE:
                return Fate.INTEGER
            if kind == LineKind.FLOAT:
                same = own.removeprefix("nn.") == wanted
                # A line of another operator, on quantized operands, unpacks integer weights.
                fate = Fate.WEIGHTS if quantized and not same else Fate.FLOAT if same else fate
        return fate

    # -- rows with references

    def rows(self) -> tuple[Row, ...]:
        """Return the rows of both programs; their tokens refer to items."""
        first = self.float_rows.filled(self._reference(self.float_rows, 0))
        second = self.integer_rows.filled(self._reference(self.integer_rows, self.split))
        moved = (row._replace(end=row.end + self.split if row.end >= 0 else -1) for row in second)
        return (*first, *moved)

    def _reference(self, program: ProgramRows, offset: int) -> Callable[[Expr], int]:
        numbers: dict[int, int] = {}

        def refer(expr: Expr) -> int:
            row = program.row(expr)
            if row < 0 or isinstance(expr, (Op, Constant)):
                return -1
            if row not in numbers:
                numbers[row] = len(self.items)
                self.items.append(Item(row + offset, program.name(expr) or ""))
            return numbers[row]

        return refer


def _bound(module: IRModule) -> dict[Expr, Expr]:
    """Return the values of the variables that `let` binds."""
    return {
        node.var: node.value
        for function in module.functions.values()
        for node in post_order(function)
        if isinstance(node, Let)
    }


def _operator(expr: Expr | None) -> str:
    """Return the name of the operator that an expression calls; "" for others."""
    return expr.op.name if isinstance(expr, Call) and isinstance(expr.op, Op) else ""


def _dtype(expr: Expr) -> str:
    """Return the element type of a tensor, or of the first tensor in a tuple; "" for other values."""
    type_ = expr._checked_type
    while isinstance(type_, TupleType) and type_.fields:
        type_ = type_.fields[0]
    return type_.dtype if isinstance(type_, TensorType) else ""


def _reachable(module: IRModule) -> IRModule:
    """Return `@main`, the functions that it calls, and the types that they mention."""
    by_name = {var.name_hint: var for var in module.functions}
    pending, names = ["main"], []
    while pending:
        name = pending.pop(0)
        if name in names or name not in by_name:
            continue
        names.append(name)
        function = module.functions[by_name[name]]
        pending += [node.name_hint for node in post_order(function) if isinstance(node, GlobalVar)]
    functions = {var: f for var, f in module.functions.items() if var.name_hint in names}
    named = set(types_named(f for f in functions.values() if isinstance(f, Expr)))
    types = {var: data for var, data in module.type_definitions.items() if var.name_hint in named}
    return IRModule(functions, types, source=module.source)
