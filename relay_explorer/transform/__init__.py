"""Passes over modules: their infrastructure (`infrastructure/`), and a file or folder for each pass.

A pass and the helpers that only it needs share a folder (`fuse_ops/`, `partial_evaluate/`, `layouts/` …);
`tools/` contains helpers that several passes share, and `optimize.py` the pipeline that compiles a program.
"""

from __future__ import annotations

from .annotate_spans import AnnotateSpans
from .canonicalize_cast import CanonicalizeCast
from .canonicalize_ops import CanonicalizeOps
from .combine_parallel.batch_matmul import CombineParallelBatchMatmul
from .combine_parallel.batching_ops import BatchingOps
from .combine_parallel.conv2d import CombineParallelConv2D
from .combine_parallel.dense import CombineParallelDense
from .combine_parallel.shared_dense import CombineSharedDense
from .continuation_passing.to_cps import ToCPS, to_cps
from .continuation_passing.un_cps import UnCPS, un_cps
from .dead_code_elimination import DeadCodeElimination
from .defunctionalize import Defunctionalization, Defunctionalize
from .differentiation.first_order import FirstOrderGradient
from .differentiation.gradient import gradient
from .differentiation.lazy_gradient_init import LazyGradientInit
from .dynamic_to_static import DynamicToStatic
from .eliminate_common_subexpr import EliminateCommonSubexpr
from .eta_expand import EtaExpand
from .fake_quantization.to_integer import FakeQuantizationToInteger
from .fast_math import FastMath
from .flatten_atrous_conv import FlattenAtrousConv
from .fold_constant import FoldConstant
from .fold_explicit_padding import FoldExplicitPadding
from .fold_scale_axis import FoldScaleAxis
from .fold_scale_axis.backward import BackwardFoldScaleAxis
from .fold_scale_axis.forward import ForwardFoldScaleAxis
from .fuse_ops import FuseOps
from .fuse_ops.defuse_ops import DefuseOps
from .infer_type import InferType, InferTypeLocal
from .infrastructure import (
    AtLeast,
    Contract,
    Pass,
    PassContext,
    PassInfo,
    Sequential,
    function_pass,
    list_passes,
    module_pass,
    parse_pipeline,
)
from .infrastructure.function_passes import FunctionPass, TypedPass
from .inline import Inline
from .lambda_lift import LambdaLift
from .layouts.alter_op_layout import AlterOpLayout
from .layouts.convert import LayoutConfig
from .layouts.convert_layout import ConvertLayout
from .legalize import Legalize
from .mixed_precision.to_mixed_precision import ToMixedPrecision
from .normal_forms.to_a_normal_form import ToANormalForm, ToANormalFormExpr, to_a_normal_form
from .normal_forms.to_basic_block_normal_form import ToBasicBlockNormalForm, to_basic_block_normal_form
from .normal_forms.to_graph_normal_form import ToGraphNormalForm, to_graph_normal_form
from .normal_forms.to_tree import ToTree
from .optimize import optimize, pipeline
from .partial_evaluate import PartialEvaluate
from .partitioning.annotate_target import AnnotateTarget
from .partitioning.merge_compiler_regions import MergeCompilerRegions
from .partitioning.merge_composite import MergeComposite
from .partitioning.partition_graph import PartitionGraph
from .qnn import QnnCanonicalizeOps, QnnLegalize
from .remove_unused_functions import RemoveUnusedFunctions
from .simplify_expr import SimplifyExpr, SimplifyExprPostAlterOp
from .simplify_inference import SimplifyInference
from .split_args import SplitArgs

__all__ = [
    "AlterOpLayout",
    "AnnotateSpans",
    "AnnotateTarget",
    "AtLeast",
    "BackwardFoldScaleAxis",
    "BatchingOps",
    "CanonicalizeCast",
    "CanonicalizeOps",
    "CombineParallelBatchMatmul",
    "CombineParallelConv2D",
    "CombineParallelDense",
    "CombineSharedDense",
    "Contract",
    "ConvertLayout",
    "DeadCodeElimination",
    "Defunctionalization",
    "Defunctionalize",
    "DefuseOps",
    "DynamicToStatic",
    "EliminateCommonSubexpr",
    "EtaExpand",
    "FakeQuantizationToInteger",
    "FastMath",
    "FirstOrderGradient",
    "FlattenAtrousConv",
    "FoldConstant",
    "FoldExplicitPadding",
    "FoldScaleAxis",
    "ForwardFoldScaleAxis",
    "FunctionPass",
    "FuseOps",
    "InferType",
    "InferTypeLocal",
    "Inline",
    "LambdaLift",
    "LayoutConfig",
    "LazyGradientInit",
    "Legalize",
    "MergeCompilerRegions",
    "MergeComposite",
    "PartialEvaluate",
    "PartitionGraph",
    "Pass",
    "PassContext",
    "PassInfo",
    "QnnCanonicalizeOps",
    "QnnLegalize",
    "RemoveUnusedFunctions",
    "Sequential",
    "SimplifyExpr",
    "SimplifyExprPostAlterOp",
    "SimplifyInference",
    "SplitArgs",
    "ToANormalForm",
    "ToANormalFormExpr",
    "ToBasicBlockNormalForm",
    "ToCPS",
    "ToGraphNormalForm",
    "ToMixedPrecision",
    "ToTree",
    "TypedPass",
    "UnCPS",
    "function_pass",
    "gradient",
    "list_passes",
    "module_pass",
    "optimize",
    "parse_pipeline",
    "pipeline",
    "to_a_normal_form",
    "to_basic_block_normal_form",
    "to_cps",
    "to_graph_normal_form",
    "un_cps",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(
        f"there is no pass or tool called relay.transform.{name} yet; there are {', '.join(__all__)}"
    )
