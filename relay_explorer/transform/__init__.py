"""Passes: the infrastructure, and one pass a file."""

from __future__ import annotations

from .annotate_spans import AnnotateSpans
from .backward_fold_scale_axis import BackwardFoldScaleAxis
from .canonicalize_ops import CanonicalizeOps
from .combine_parallel_batch_matmul import CombineParallelBatchMatmul
from .combine_parallel_conv2d import CombineParallelConv2D
from .combine_parallel_dense import CombineParallelDense
from .dead_code_elimination import DeadCodeElimination
from .defuse_ops import DefuseOps
from .eliminate_common_subexpr import EliminateCommonSubexpr
from .eta_expand import EtaExpand
from .fast_math import FastMath
from .fold_constant import FoldConstant
from .fold_scale_axis import FoldScaleAxis
from .forward_fold_scale_axis import ForwardFoldScaleAxis
from .fuse_ops import FuseOps
from .infer_type import InferType, InferTypeLocal
from .infrastructure import Contract, Pass, PassContext, PassInfo, Sequential, function_pass, module_pass
from .inline import Inline
from .lambda_lift import LambdaLift
from .merge_composite import MergeComposite
from .partial_evaluate import PartialEvaluate
from .remove_unused_functions import RemoveUnusedFunctions
from .simplify_inference import SimplifyInference
from .to_a_normal_form import ToANormalForm, ToANormalFormExpr, to_a_normal_form
from .to_basic_block_normal_form import ToBasicBlockNormalForm, to_basic_block_normal_form
from .to_graph_normal_form import ToGraphNormalForm, to_graph_normal_form
from .to_tree import ToTree

__all__ = [
    "AnnotateSpans", "BackwardFoldScaleAxis", "CanonicalizeOps", "CombineParallelBatchMatmul", "CombineParallelConv2D",
    "CombineParallelDense", "Contract", "DeadCodeElimination", "DefuseOps", "EliminateCommonSubexpr",
    "EtaExpand", "FastMath", "FoldConstant", "FoldScaleAxis", "ForwardFoldScaleAxis", "FuseOps", "InferType", "InferTypeLocal", "Inline",
    "LambdaLift", "MergeComposite", "PartialEvaluate", "Pass", "PassContext", "PassInfo",
    "RemoveUnusedFunctions", "Sequential", "SimplifyInference", "ToANormalForm", "ToANormalFormExpr",
    "ToBasicBlockNormalForm", "ToGraphNormalForm", "ToTree", "function_pass", "module_pass",
    "to_a_normal_form", "to_basic_block_normal_form", "to_graph_normal_form",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(
        f"there is no pass or tool called relay.transform.{name} yet; there are {', '.join(__all__)}"
    )
