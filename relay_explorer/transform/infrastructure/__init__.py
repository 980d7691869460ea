"""The infrastructure of passes: `Pass`, contexts, pipelines and their text, passes made from functions."""

from __future__ import annotations

from .catalogue import list_passes
from .context import CONFIGS, PassContext, context_within
from .from_functions import function_pass, module_pass
from .options import AtLeast, Converted, FrozenMapping
from .passes import Contract, Pass, PassInfo
from .sequential import FixedSequential, Sequential, parse_pipeline

__all__ = [
    "CONFIGS", "AtLeast", "Contract", "Converted", "FixedSequential", "FrozenMapping", "Pass", "PassContext",
    "PassInfo", "Sequential", "context_within", "function_pass", "list_passes", "module_pass",
    "parse_pipeline",
]  # fmt: skip
