"""AnnotateTarget: mark the parts of a program that external compilers support."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from ...ir.adt import Match
from ...ir.expr import Call, Expr, Function, If, Let, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem, Var
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.walk import children, post_order, rebuild
from ...ops.annotation import compiler_begin, compiler_end
from ...typing import infer_types
from ..infrastructure import Converted, PassContext
from ..infrastructure.function_passes import TypedPass, rewritten

DEFAULT = "default"  # the compiler of calls that no other supports
BEGIN = "annotation.compiler_begin"
END = "annotation.compiler_end"


def _names(targets: object) -> object:
    """Convert targets to a sequence of names: one name may stand alone, and objects may print as names."""
    if isinstance(targets, (list, tuple)):
        return [str(target) for target in targets]
    return (targets,) if isinstance(targets, str) else targets


@dataclass(frozen=True)
class AnnotateTarget(TypedPass):
    """Mark the calls that `targets` support with `compiler_begin` and `compiler_end`.

    `compiler_begin` wraps the arguments of a call, `compiler_end` its result. A target supports an operator
    if the operator's attribute `target.NAME` returns true for the call, and a function that MergeComposite
    formed for it (`Composite="NAME.…"`). The first target that supports a call gets it; if none does,
    "default".

    With `include_non_call_ops`, tuples, projections and references are marked too, for the target of their
    operands. Earlier marks stay.
    """

    name = "AnnotateTarget"
    opt_level = 0

    targets: Annotated[str | Sequence[str], Converted(_names)]
    include_non_call_ops: bool = True

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return infer_types(super().transform_module(mod, ctx))

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        return rewritten(function, _Marks(tuple(self.targets), self.include_non_call_ops).put_into(function))


class _Marks:
    """Inserts the marks into a typed function. `target_of` maps an expression to the compiler that computes
    it.
    """

    def __init__(self, targets: Sequence[str], everything: bool) -> None:
        self.targets = targets
        self.everything = everything
        self.target_of: dict[Expr, str] = {}

    def put_into(self, function: Function) -> Expr:
        order = post_order(function)
        composites = [
            n for n in order if isinstance(n, Function) and "Composite" in n.attrs and n is not function
        ]
        whole = {inner for composite in composites for inner in post_order(composite)}
        memo: dict[Expr, Expr] = {}
        for node in order:
            if node in whole and not (isinstance(node, Function) and node in composites):
                memo[node] = node
                continue
            parts = [memo[part] for part in children(node)]
            memo[node] = node if node in whole else self._marked(node, parts)
        return memo[function]

    def _marked(self, node: Expr, parts: list[Expr]) -> Expr:
        match node:
            case Call():
                return self._marked_call(node, parts)
            case Tuple() | TupleGetItem() | RefCreate() | RefRead() | RefWrite():
                if not self.everything:
                    return rebuild(node, [self._ended(part) for part in parts])
                target, begun = self._begun(parts)
                new = rebuild(node, begun)
                self.target_of[new] = target
                return new
            case Function():
                return rebuild(node, [*parts[:-1], self._ended(parts[-1])])
            case Let():
                return rebuild(node, [parts[0], self._ended(parts[1]), self._ended(parts[2])])
            case If() | Match():
                return rebuild(node, [self._ended(part) for part in parts])
        return rebuild(node, parts)

    def _marked_call(self, node: Call, parts: list[Expr]) -> Expr:
        new = rebuild(node, parts)
        name = node.op.name if isinstance(node.op, Op) else ""
        if name == BEGIN:
            return new
        if name == END:
            assert isinstance(new, Call)
            self.target_of.setdefault(new.args[0], compiler_of(new))
            return new
        if node.args and is_mark(node.args[0], BEGIN) and compiler_of(node.args[0]) != DEFAULT:
            return new  # it is assigned to a target already
        if isinstance(node.op, Var) and not self.everything:
            return rebuild(node, [parts[0], *[self._ended(part) for part in parts[1:]]])
        target = self._supporting(node)
        _, begun = self._begun(parts[1:], target)
        new = rebuild(node, [parts[0], *begun])
        self.target_of[new] = target
        return new

    def _supporting(self, call: Call) -> str:
        """Return the first target that supports a call."""
        for target in self.targets:
            if isinstance(call.op, Op):
                supports = call.op.get_attr(f"target.{target}")
                if supports is not None and supports(call):
                    return target
            elif isinstance(call.op, Function):
                name = dict(call.op.attrs.items()).get("Composite", "")
                if str(name).startswith(f"{target}."):
                    return target
        return DEFAULT

    def _begun(self, parts: Sequence[Expr], target: str | None = None) -> tuple[str, list[Expr]]:
        """Mark the arguments where they enter the region of `target`; return the target and the arguments.
        The default is the target that all arguments come from, or "default" if they differ.
        """
        sources: set[str] = set()
        ends: list[Expr] = []
        done: set[int] = set()  # the numbers of the arguments that are marked already
        for number, part in enumerate(parts):
            source = DEFAULT
            if is_mark(part, BEGIN):  # of an earlier run
                assert isinstance(part, Call)
                inner = part.args[0]
                source = compiler_of(inner) if is_mark(inner, END) else DEFAULT
                if compiler_of(part) != DEFAULT:
                    done.add(number)
                    inner = part
                ends.append(inner)
            elif part in self.target_of:
                source = self.target_of[part]
                ends.append(compiler_end(part, source) if _is_computed(part) else part)
            else:
                ends.append(part)
            sources.add(source)
        if target is None:
            target = sources.pop() if len(sources) == 1 else DEFAULT
        return target, [
            end if number in done else compiler_begin(end, target) for number, end in enumerate(ends)
        ]

    def _ended(self, part: Expr) -> Expr:
        """Mark a value where it leaves its region."""
        if part in self.target_of:
            return self._end(part) if _is_computed(part) else part
        if is_mark(part, END) and compiler_of(part) == DEFAULT:
            assert isinstance(part, Call)
            return self._end(part.args[0])
        return part

    def _end(self, part: Expr) -> Expr:
        target = self.target_of[part]
        end = compiler_end(part, target)
        self.target_of[end] = target
        return end


def is_mark(expr: Expr, name: str) -> bool:
    """Whether an expression is a call of `compiler_begin` or `compiler_end`."""
    return isinstance(expr, Call) and isinstance(expr.op, Op) and expr.op.name == name


def compiler_of(mark: Expr) -> str:
    """Return the compiler that a mark names."""
    assert isinstance(mark, Call)
    assert mark.attrs is not None
    return str(mark.attrs["compiler"])


def _is_computed(part: Expr) -> bool:
    """Whether an expression has operands: `zeros()` and `()` are not results of a region, since nothing
    enters it.
    """
    match part:
        case Call():
            return bool(part.args)
        case Tuple():
            return bool(part.fields)
    return isinstance(part, (TupleGetItem, RefCreate, RefRead, RefWrite))
