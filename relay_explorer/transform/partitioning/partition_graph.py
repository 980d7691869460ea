"""PartitionGraph: move regions for external compilers into functions of the module."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...analysis.annotated_regions import AnnotatedRegion, AnnotatedRegionSet
from ...ir.annotate import set_origin
from ...ir.errors import RelayError
from ...ir.expr import Call, Constant, Expr, Function, GlobalVar, Tuple, TupleGetItem, Var
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.types import TypeVar
from ...ir.walk import children, rebuild, rewrite_nodes, type_vars_in
from ...ops.annotation import compiler_end
from ...typing import infer_types
from ..infrastructure import Pass, PassContext
from ..infrastructure.function_passes import rewritten
from ..tools.inlining import substituted
from .annotate_target import BEGIN, DEFAULT, END, compiler_of, is_mark

Optimizer = Callable[[IRModule], IRModule]
_OPTIMIZERS: list[Callable[[str], Optimizer | None]] = []


def register_optimizers(find: Callable[[str], Optimizer | None]) -> None:
    """Register a lookup of external compilers' passes: `find(target)` returns the function from module to
    module that runs on each region of the compiler `target`, or None.
    """
    _OPTIMIZERS.append(find)


@dataclass(frozen=True)
class PartitionGraph(Pass):
    """Move each region between `compiler_begin` and `compiler_end` into a function of the module, and call
    it.

    The function has the attributes `Compiler` (which compiles it), `global_symbol`, `Primitive` and `Inline`.
    Marks for "default" are removed, and the code between them stays.

    The function is called `tvmgen_<mod_name>_<compiler>_<function>_<number>`. With `bind_constants`,
    constants that enter a region become part of it. A function registered as `relay.ext.<compiler>.optimize`
    is called with each region as a module, and returns its replacement.
    """

    name = "PartitionGraph"
    opt_level = 0

    mod_name: str = "default"
    bind_constants: bool = True

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        prepared = mod.copy()
        for var, function in mod.functions.items():
            if isinstance(function, Function) and "Compiler" not in function.attrs:
                prepared[var] = rewritten(function, _without_default(_with_flat_results(function)))
        new = infer_types(prepared)
        for var, function in new.functions.items():
            if isinstance(function, Function) and "Compiler" not in function.attrs:
                new[var] = _Partitioner(self, new, var.name_hint, function).result
        return infer_types(new)

    def symbol(self, target: str, function: str, number: int) -> str:
        """Name a region's function."""
        names = [name for name in ("tvmgen", self.mod_name, target, function, str(number)) if name]
        return re.sub(r"[^0-9A-Za-z_]", "_", "_".join(names))


def _with_flat_results(function: Expr) -> Expr:
    """Flatten a tuple at the end of a region, so that it leaves field by field and not as a nested tuple."""

    def flattened(node: Expr, rebuilt: Expr) -> Expr | None:
        if not (is_mark(node, END) and isinstance(rebuilt, Call) and isinstance(rebuilt.args[0], Tuple)):
            return None
        fields = [compiler_end(field, compiler_of(node)) for field in rebuilt.args[0].fields]
        return set_origin(Tuple(fields, rebuilt.span), (node,))

    return rewrite_nodes(function, flattened)


def _without_default(function: Expr) -> Expr:
    """Remove the marks for the default compiler."""

    def unmarked(node: Expr, rebuilt: Expr) -> Expr | None:
        if (is_mark(node, BEGIN) or is_mark(node, END)) and compiler_of(node) == DEFAULT:
            assert isinstance(rebuilt, Call)
            return rebuilt.args[0]
        return None

    return rewrite_nodes(function, unmarked)


class _Partitioner:
    """Moves the regions of a typed function of `mod` into new functions, which it adds to `mod`."""

    def __init__(self, step: PartitionGraph, mod: IRModule, name: str, function: Function) -> None:
        self.step = step
        self.mod = mod
        self.name = name
        self.regions = AnnotatedRegionSet(function)
        self.memo: dict[Expr, Expr] = {}
        # By region: its parameters with their arguments, by the value that enters; its results in the caller.
        self.inputs: dict[AnnotatedRegion, dict[Expr, tuple[Var, Expr]]] = {r: {} for r in self.regions}
        self.outputs: dict[AnnotatedRegion, dict[Expr, Expr]] = {}
        self.result = function if not len(self.regions) else rewritten(function, self._rewritten(function))

    def _rewritten(self, root: Function) -> Expr:
        for node in self._order(root):
            if is_mark(node, BEGIN):
                self.memo[node] = self._entered(node)
            elif is_mark(node, END):
                self.memo[node] = self._left(node)
            else:
                self.memo[node] = rebuild(node, [self.memo[part] for part in children(node)])
        return self.memo[root]

    def _region(self, mark: Expr) -> AnnotatedRegion:
        region = self.regions.get_region(mark)
        assert region is not None
        return region

    def _parts(self, node: Expr) -> tuple[Expr, ...]:
        """Return the parts that must be rewritten before a node: for a result of a region, the whole
        region.
        """
        if is_mark(node, END):
            return (*children(node), *(end.args[0] for end in self._region(node).rets))
        return children(node)

    def _order(self, root: Expr) -> list[Expr]:
        done: dict[Expr, None] = {}
        open_: set[Expr] = {root}
        stack = [(root, iter(self._parts(root)))]
        while stack:
            node, rest = stack[-1]
            part = next((p for p in rest if p not in done), None)
            if part is None:
                done[node] = None
                stack.pop()
            elif part in open_:
                raise RelayError(
                    f'a region for the compiler "{self._circular(part)}" needs a value that is computed from '
                    "its own results",
                    part.span,
                    help=["make two regions of it, as MergeCompilerRegions would"],
                )
            else:
                open_.add(part)
                stack.append((part, iter(self._parts(part))))
        return list(done)

    def _circular(self, node: Expr) -> str:
        region = self.regions.get_region(node)
        return "" if region is None else region.target

    def _entered(self, begin: Expr) -> Expr:
        """Return the parameter of the region's function for an input: one for each value."""
        assert isinstance(begin, Call)
        region = self._region(begin)
        source = begin.args[0]
        while is_mark(source, BEGIN) or is_mark(source, END):
            assert isinstance(source, Call)
            source = source.args[0]
        parameter = self.inputs[region].get(source)
        if parameter is None:
            number = region.args.index(begin)
            var = Var(f"{region.target}_{region.id}_i{number}", begin.checked_type)
            set_origin(var, (begin,))
            parameter = self.inputs[region][source] = (var, self.memo[begin.args[0]])
        return parameter[0]

    def _left(self, end: Expr) -> Expr:
        """Return the replacement of a region's result: a call of its function, or a field of that."""
        assert isinstance(end, Call)
        region = self._region(end)
        if region not in self.outputs:
            self.outputs[region] = self._make(region)
        return self.outputs[region][end.args[0]]

    def _make(self, region: AnnotatedRegion) -> dict[Expr, Expr]:
        """Build the function of a region; return the replacement of each result in the caller."""
        results = list(dict.fromkeys(end.args[0] for end in region.rets))
        fields = [self.memo[result] for result in results]
        body = fields[0] if len(fields) == 1 else Tuple(fields)
        params, args = [], []
        bound: dict[Var, Expr] = {}
        for var, arg in self.inputs[region].values():
            if self.step.bind_constants and _is_constant(arg):
                bound[var] = arg
            else:
                params.append(var)
                args.append(arg)
        types: dict[TypeVar, None] = {}
        for typed in [*params, *results]:
            types.update(dict.fromkeys(type_vars_in(typed.checked_type)[0]))
        function = Function(params, substituted(body, bound), None, list(types))
        set_origin(function, tuple(region.nodes))
        target = self._define(region, function)
        call = Call(target, args)
        set_origin(call, tuple(results))
        if len(results) == 1:
            return {results[0]: call}
        fields = [TupleGetItem(call, number) for number in range(len(results))]
        for field, result in zip(fields, results):
            set_origin(field, (result,))
        return dict(zip(results, fields))

    def _define(self, region: AnnotatedRegion, function: Function) -> GlobalVar:
        """Add a region's function to the module."""
        function = _optimized(region.target, function)
        symbol = self.step.symbol(region.target, self.name, region.id)
        while symbol in self.mod:
            symbol += "_"
        target = GlobalVar(symbol)
        self.mod[target] = function.with_attr(
            {"global_symbol": symbol, "Primitive": 1, "Compiler": region.target, "Inline": 1}
        )
        return target


def _optimized(target: str, function: Function) -> Function:
    """Run the passes that the function's external compiler registered, if there are any."""
    optimize = next((registered for find in _OPTIMIZERS if (registered := find(target)) is not None), None)
    if optimize is None:
        return function
    optimized = optimize(infer_types(IRModule.from_expr(function)))["main"]
    return rewritten(function, optimized)


def _is_constant(expr: Expr) -> bool:
    """Return whether an expression is a constant or a tuple of constants."""
    if isinstance(expr, Tuple):
        return bool(expr.fields) and all(isinstance(field, Constant) for field in expr.fields)
    return isinstance(expr, Constant)
