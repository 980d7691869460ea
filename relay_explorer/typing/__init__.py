"""Type inference: constraints, union-find, the queue of relations, and the record of how they were solved."""

from __future__ import annotations

from .infer import Inference, infer_types, record

__all__ = ["Inference", "infer_types", "record"]
