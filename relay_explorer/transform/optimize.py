"""The optimization pipeline: passes in the order in which a compiler runs them, by level."""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.bind import bind_params_by_name
from ..ir.expr import Call, Expr
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.walk import post_order
from ..ops.canonical import canonical_rule
from .canonicalize_cast import CanonicalizeCast
from .canonicalize_ops import CanonicalizeOps
from .combine_parallel.batch_matmul import CombineParallelBatchMatmul
from .combine_parallel.conv2d import CombineParallelConv2D
from .combine_parallel.dense import CombineParallelDense
from .eliminate_common_subexpr import EliminateCommonSubexpr
from .fast_math import FastMath
from .flatten_atrous_conv import FlattenAtrousConv
from .fold_constant import FoldConstant
from .fold_scale_axis import FoldScaleAxis
from .fuse_ops import FuseOps
from .infer_type import InferType
from .infrastructure import Pass, Sequential, context_within
from .normal_forms.to_basic_block_normal_form import ToBasicBlockNormalForm
from .qnn.canonicalize_ops import QnnCanonicalizeOps
from .remove_unused_functions import RemoveUnusedFunctions
from .simplify_expr import SimplifyExpr
from .simplify_inference import SimplifyInference


def pipeline(fuse: bool = True, layouts: Pass | None = None, mod: IRModule | None = None) -> Sequential:
    """Return the pipeline of all optimizations of a program; the context's `opt_level` determines which of
    them run. `layouts` is the pass, if any, that chooses the layouts for a machine: AlterOpLayout, with its
    rules.

    * From level 0: normalizations become arithmetic, expressions are simplified, and, with `fuse`, each
      operator becomes a kernel of its own.
    * From level 1: functions that `@main` does not need are removed, and kernels are fused.
    * From level 2: constants are folded.
    * From level 3: common subexpressions are shared, shorthand operators are replaced by basic ones, and
      scales are folded into weights.
    * From level 4: parallel convolutions and matrix products are combined, and FastMath approximates.

    Given the program as `mod`, the pipeline begins with the passes that its operators need:
    FlattenAtrousConv, and QnnCanonicalizeOps for quantized ones.
    """
    steps = [
        *([] if mod is None else _needed(mod)),
        RemoveUnusedFunctions(), ToBasicBlockNormalForm(), SimplifyInference(),
        EliminateCommonSubexpr(_is_index_cast), SimplifyExpr(), CombineParallelConv2D(3),
        CombineParallelDense(3), CombineParallelBatchMatmul(3), FoldConstant(), FoldScaleAxis(),
        CanonicalizeCast(), CanonicalizeOps(), *([] if layouts is None else [layouts]), SimplifyExpr(),
        FastMath(), FoldConstant(), InferType(),
    ]  # fmt: skip
    return Sequential([*steps, *([FuseOps()] if fuse else [])], name="optimize")


def _needed(mod: IRModule) -> list[Pass]:
    """Return the passes for operators that few programs have."""
    used = {
        node for function in mod.functions.values() for node in post_order(function) if isinstance(node, Op)
    }
    flatten: list[Pass] = (
        [FlattenAtrousConv()] if any(op.name == "nn.batch_to_space_nd" for op in used) else []
    )
    return flatten + ([QnnCanonicalizeOps()] if any(map(canonical_rule, used)) else [])


def _is_index_cast(expr: Expr) -> bool:
    """Whether an expression is a cast to int32. These are repeated rather than shared: they are cheap, and
    sharing them would keep operators apart that could be one kernel.
    """
    return (
        isinstance(expr, Call)
        and isinstance(expr.op, Op)
        and expr.op.name == "cast"
        and expr.attrs is not None
        and expr.attrs["dtype"] == "int32"
    )


def optimize(
    mod: IRModule,
    target: object = None,
    params: Mapping[str, object] | None = None,
    level: int | None = None,
    layouts: Pass | None = None,
) -> tuple[IRModule, dict[str, object]]:
    """Optimize `mod` for execution. Return the module, in which the parameters of `@main` that `params` names
    are constants, and the parameters that it still takes by name, of which there are none.

    `level` is the optimization level (0 to 3, and 4 for approximations); the default is that of the context.
    `target` is ignored, because only the pass `layouts` depends on the machine (see
    `relay_explorer.lower.passes.layouts`).
    """
    if params:
        mod = mod.copy()
        mod["main"] = bind_params_by_name(mod["main"], params)
    if level is None:
        return pipeline(layouts=layouts, mod=mod)(mod), {}
    with context_within(level):
        return pipeline(layouts=layouts, mod=mod)(mod), {}
