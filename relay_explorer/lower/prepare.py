"""Prepares a program for compilation: checks it, optimizes it, chooses layouts, and forms kernels."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping
from typing import Any

from ..analysis import StoragePlan, plan_memory
from ..analysis.liveness import StepKind
from ..execute.vm.compiler import computes_size
from ..ir.bind import bind_params_by_name
from ..ir.errors import Note, RelayError
from ..ir.expr import Call, Constant, Expr, Function, GlobalVar, Let, Var, to_ndarray
from ..ir.module import IRModule
from ..ir.ndarray import is_supported
from ..ir.op import Op, OpPattern
from ..ir.types import TensorType, TupleType, Type
from ..ir.walk import children, post_order
from ..transform.combine_parallel.shared_dense import CombineSharedDense
from ..transform.dynamic_to_static import DynamicToStatic
from ..transform.eliminate_common_subexpr import EliminateCommonSubexpr
from ..transform.eta_expand import EtaExpand
from ..transform.fold_constant import FoldConstant
from ..transform.fold_scale_axis.axes import CONSTANTS_ONLY
from ..transform.fuse_ops import PATTERNS, FuseOps
from ..transform.fuse_ops.defuse_ops import DefuseOps
from ..transform.infer_type import InferType
from ..transform.infrastructure import PassContext, Sequential, context_within
from ..transform.inline import Inline
from ..transform.optimize import pipeline
from ..transform.remove_unused_functions import RemoveUnusedFunctions
from ..typing import check_types, infer_types
from .lowering import lowering_of
from .passes.flat_lets import FlatLets
from .passes.integer_products import IntegerProducts
from .passes.joined_offsets import JoinOffsets
from .passes.layouts import blocked_layouts
from .passes.named_kernels import NamedKernels, is_kernel
from .passes.narrow_values import NarrowValues
from .passes.packed_bits import PackBits
from .passes.padded_channels import PadChannels
from .passes.padded_products import PadProducts
from .passes.padded_units import PadDense
from .passes.quantized_transposed import QuantizedTransposed
from .passes.rows_apart import RowsApart
from .passes.signed_weights import SignedWeights
from .passes.split_slices import SplitSlices
from .passes.transposed import PlainTransposed
from .passes.without_marks import WithoutMarks
from .targets.target import Target

MAX_INLINED_SIZE = 5000  # the most expressions of a function that is inlined at several calls
# TVM needs up to half a second for each operator of a kernel, and a longer kernel saves only one more pass
# over memory. The parts of a long repetitive chain can share one kernel.
MAX_FUSED_OPERATORS = 48


def with_params(mod: IRModule | Expr, params: Mapping[str, Any] | None) -> IRModule:
    """Return a checked module in which the values in `params` replace parameters of `@main`."""
    if not isinstance(mod, (IRModule, Expr)):
        raise RelayError(f"a program is a module or a function, not a value of type {type(mod).__name__}")
    module = IRModule.from_expr(mod).copy()
    if "main" not in module:
        names = ", ".join(f"`@{var.name_hint}`" for var in module.functions)
        raise RelayError(f"execution begins in `@main`, but this module has {names or 'no function'}")
    if params is not None and not hasattr(params, "items"):
        raise RelayError(f"`params` must map names to values, not be a value of type {type(params).__name__}")
    if params:
        main = module["main"]
        _check_params(main, params)
        module["main"] = bind_params_by_name(main, params)
    _check_elements(module["main"])
    check_types(module)
    return module


def _check_elements(main: Function) -> None:
    """Check that the parameters have element types that kernels can compute with."""
    for param in main.params:
        pending = [param.type_annotation]
        while pending:
            part = pending.pop()
            if isinstance(part, TupleType):
                pending += part.fields
            elif isinstance(part, TensorType) and not is_supported(part.dtype):
                raise RelayError(
                    f"the parameter `%{param.name_hint}` is of `{part.dtype}`, which kernels do not support",
                    param.span,
                )


def _check_params(main: Function, params: Mapping[str, Any]) -> None:
    """Check that `params` names at least one parameter of the function, and that the values for its
    parameters have their types. Other names are ignored.
    """
    parameters = {p.name_hint: p for p in main.params}
    if not any(name in parameters for name in params):
        first = next(iter(params))
        near = difflib.get_close_matches(str(first)[:60], parameters, n=3, cutoff=0.5)
        raise RelayError(
            f"none of the {len(params)} values in `params` belongs to a parameter of `@main`",
            help=[
                f"`{str(first)[:60]}` may be {' or '.join(f'`%{name}`' for name in near)}"
                if near
                else f"its parameters are {', '.join(f'`%{name}`' for name in [*parameters][:8]) or 'none'}"
            ],
        )
    for name, value in params.items():
        expected = parameters[name].type_annotation if name in parameters else None
        if isinstance(expected, TensorType) and expected.is_static:
            type_ = _type(name, value)
            if type_ != expected:
                raise RelayError(
                    f"the parameter `%{name}` is `{expected}`, but `params` has `{type_}` for it",
                    parameters[name].span,
                )


def _type(name: str, value: Any) -> Type:
    """Return the type of a value. A NumPy array is not copied for this."""
    if type(value).__module__ == "numpy" and hasattr(value, "shape"):
        return TensorType(value.shape, str(value.dtype))
    try:
        return (value if isinstance(value, Constant) else Constant(to_ndarray(value))).checked_type
    except Exception as problem:  # also from other libraries, which may refuse to export their memory
        raise RelayError(
            f"the value of the parameter `%{name}` in `params` is not a tensor, but of the type "
            f"`{type(value).__name__}`",
            help=str(problem).splitlines()[:1] if "numpy()" in str(problem) else [],
        ) from None


def inlined(module: IRModule, entry: str = "main") -> IRModule:
    """Inline the functions that the program calls, except recursive and large ones."""
    if len(module.functions) == 1:
        return module
    marked = module.copy()
    small = _inlinable(module)
    for var, function in module.functions.items():
        if var.name_hint != entry and var.name_hint in small:
            marked[var] = function.with_attr("Inline", 1)
    return Inline()(marked)


def _inlinable(module: IRModule) -> set[str]:
    """Return the functions to inline: those that are called once, and those whose size stays bounded when
    their own callees are inlined. A program therefore grows by a bounded factor, however its functions call
    each other.
    """
    calls: dict[str, Counter[str]] = {}
    sizes: dict[str, int] = {}
    for var, function in module.functions.items():
        nodes = post_order(function)
        uses: Counter[str] = Counter()
        for node in nodes:
            if isinstance(node, Call) and isinstance(node.op, GlobalVar):
                uses[node.op.name_hint] += 1
        calls[var.name_hint], sizes[var.name_hint] = uses, len(nodes)
    total: Counter[str] = Counter()
    for uses in calls.values():
        total.update(uses)
    inlined_names: set[str] = set()
    for name in _callees_first(calls):
        sizes[name] += sum(
            count * sizes[callee] for callee, count in calls[name].items() if callee in inlined_names
        )
        if sizes[name] <= MAX_INLINED_SIZE or total[name] == 1:
            inlined_names.add(name)
    return inlined_names


def _callees_first(calls: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Sort the functions so that each comes after its callees, except within cycles (post-order)."""
    done: dict[str, None] = {}
    visited: set[str] = set()
    for root in calls:
        stack = [] if root in visited else [(root, iter(calls[root]))]
        visited.add(root)
        while stack:
            name, rest = stack[-1]
            callee = next((c for c in rest if c not in visited and c in calls), None)
            if callee is None:
                done[name] = None
                stack.pop()
            else:
                visited.add(callee)
                stack.append((callee, iter(calls[callee])))
    return list(done)


def prepared(module: IRModule, target: Target, opt_level: int, entry: str = "main") -> IRModule:
    """Optimize the module for a target, fuse its operators into primitive functions, and infer its types.
    Execution begins in the function `entry`.
    """
    now = PassContext.current()
    module = WithoutMarks()(module)
    module = inlined(RemoveUnusedFunctions((entry,))(module), entry)
    if any(is_kernel(node) for f in module.functions.values() for node in post_order(f)):
        module = DefuseOps()(NamedKernels()(module))  # it was fused without regard to the target and layouts
    if any(op.name.startswith("dyn.") for op in _operators(module)):
        module = DynamicToStatic()(module)
    if any(map(_operators_as_values, module.functions.values())):
        module = EtaExpand(expand_constructor=False, expand_operator=True)(module)
    # Operators that run on the host would take everything that is fused with them to the host.
    alone = {op.name: OpPattern.OPAQUE for op in _operators(module) if lowering_of(op) is None}
    if _sums_to_computed_shapes(module):
        alone["collapse_sum_to"] = OpPattern.OPAQUE
    config = {
        CONSTANTS_ONLY: True,
        PATTERNS: alone,
        "relay.FuseOps.max_depth": MAX_FUSED_OPERATORS,
        **now.config,
    }
    with context_within(opt_level, () if entry == "main" else ("RemoveUnusedFunctions",), config):
        module = FlatLets()(module) if opt_level >= 3 else module
        module = SignedWeights(target)(QuantizedTransposed(target)(module))
        module = pipeline(fuse=False, mod=module)(module)
        module = Sequential([EliminateCommonSubexpr(), CombineSharedDense()], name="shared weights")(module)
        layouts = blocked_layouts(target) if opt_level >= 3 else None
        if layouts is not None:
            widened = [PadDense(target), PadProducts(target), PadChannels(target), PackBits(target)]
            integers = [NarrowValues(), IntegerProducts(target), JoinOffsets(), FoldConstant()]
            passes = [SplitSlices(), *integers, *widened, PlainTransposed(), FoldConstant()]
            steps = [*passes, layouts, FoldConstant()]
            module = Sequential([*steps, EliminateCommonSubexpr()], name="layouts")(module)
        elif opt_level >= 3:
            steps = [NarrowValues(), IntegerProducts(target), FoldConstant()]
            module = Sequential(steps, name="integers")(module)
        return infer_types(Sequential([RowsApart(), InferType(), FuseOps()], name="kernels")(module))


def _operators(module: IRModule) -> set[Op]:
    return {node for f in module.functions.values() for node in post_order(f) if isinstance(node, Op)}


def _operators_as_values(function: Function) -> bool:
    return any(
        isinstance(part, Op) and not (isinstance(node, Call) and number == 0)
        for node in post_order(function)
        for number, part in enumerate(children(node))
    )


def _sums_to_computed_shapes(module: IRModule) -> bool:
    """Whether a `collapse_sum_to` has a result shape that is computed from data. Such sums run on the
    host.
    """
    return any(
        computes_size(node)
        for function in module.functions.values()
        for node in post_order(function)
        if isinstance(node, Call) and isinstance(node.op, Op) and node.op.name == "collapse_sum_to"
    )


def planned(module: IRModule, schedule: str = "program", parts: bool = False) -> StoragePlan:
    """Plan the memory of the tensors of `@main`; with `parts`, contiguous slices share the memory of their
    tensor.
    """
    try:
        return plan_memory(module["main"], schedule, parts=parts)
    except RelayError as problem:
        raise RelayError(
            "the graph executor runs programs that only compute tensors: `@main` needs the virtual machine",
            problem.span,
            [Note(problem.message, problem.span)],
            ['the virtual machine runs every program: build(…, executor="vm")'],
        ) from None


def kernel_calls(plan: StoragePlan) -> list[tuple[Call, Function]]:
    """Return the calls of kernels in the order in which they run, and the functions that they call."""
    values: dict[Var, Expr] = {}
    calls = []
    for step in plan.steps:
        if step.kind is not StepKind.COMPUTE:
            continue
        call = step.expr
        assert isinstance(call, Call)
        callee: Expr = call.op
        if isinstance(callee, Var) and not values:
            body = plan.code.function.body
            values = {node.var: node.value for node in post_order(body) if isinstance(node, Let)}
        while isinstance(callee, Var):
            callee = values[callee]
        if not isinstance(callee, Function) or "Primitive" not in callee.attrs:
            raise _no_kernel(call, callee)
        calls.append((call, callee))
    return calls


def _no_kernel(call: Call, callee: Expr) -> RelayError:
    if isinstance(callee, Function):
        return RelayError(
            f"a part of the program is for the compiler {callee.attrs['Compiler']!r}, which is not available",
            call.span,
            help=["leave out AnnotateTarget and PartitionGraph: this compiler compiles all operators"],
        )
    return RelayError(f"`{callee}` is called without being part of a kernel", call.span)
