"""Type inference: constraints, union-find, the queue of relations, and the record of how they were solved."""

from __future__ import annotations

from .infer import Inference, check_types, infer_types, record
from .local import infer_type_local
from .stand_alone import TypeSolver

__all__ = ["Inference", "TypeSolver", "check_types", "infer_type_local", "infer_types", "record"]
