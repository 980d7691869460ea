"""Type inference: generate constraints, unify types with union-find, and solve the queue of type relations;
record the steps.
"""

from __future__ import annotations

from .infer import Inference, check_types, infer_types, record
from .local import infer_type_local
from .stand_alone import TypeSolver

__all__ = ["Inference", "TypeSolver", "check_types", "infer_type_local", "infer_types", "record"]
