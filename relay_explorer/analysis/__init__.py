"""Static analyses of programs: cost, scopes, repeated blocks, well-formedness, kinds, features, call graphs,
operators, dominators, and memory planning.

Of `tvm.relay.analysis`, the analyses of devices and of operator fusion are not here, nor is the search for
transposed weights (`search_fc_transpose`).
"""

from __future__ import annotations

from ..ir.walk import all_vars, bound_vars, free_vars, post_order_visit
from .annotated_regions import AnnotatedRegion, AnnotatedRegionSet
from .basic_block import check_basic_block_normal_form
from .call_graph import CallGraph
from .cost import Cost, call_cost, costs, total_cost, weights
from .dominators import DominatorTree, dominator_tree, post_dominators
from .fake_quantized import list_fake_quantized_op_freqs
from .feature import Feature, detect_feature
from .kinds import check_kind
from .operators import count_layers, get_total_mac_number, list_op_freqs
from .repeats import Block, repeated_blocks
from .schedules import SCHEDULES
from .scopes import LetScope, let_scopes
from .storage import StoragePlan, plan_memory
from .type_vars import all_type_vars, bound_type_vars, free_type_vars
from .types import all_dtypes, check_constant
from .unmatched import unmatched_cases
from .well_formed import IllFormed, well_formed, why_ill_formed

__all__ = [
    "SCHEDULES", "AnnotatedRegion", "AnnotatedRegionSet", "Block", "CallGraph", "Cost", "DominatorTree",
    "Feature", "IllFormed", "LetScope", "StoragePlan", "all_dtypes", "all_type_vars", "all_vars",
    "bound_type_vars", "bound_vars", "call_cost", "check_basic_block_normal_form",
    "check_constant", "check_kind", "costs", "count_layers",
    "detect_feature", "dominator_tree", "free_type_vars", "free_vars", "get_total_mac_number", "let_scopes",
    "list_fake_quantized_op_freqs", "list_op_freqs", "plan_memory", "post_dominators", "post_order_visit",
    "repeated_blocks", "total_cost", "unmatched_cases", "weights", "well_formed", "why_ill_formed",
]  # fmt: skip
