"""The exercise of chapter 18: a partial evaluator for arithmetic, `if` and functions. The function given to
the learner.
"""

from __future__ import annotations

from ..constant_folding import evaluate

__all__ = ["evaluate"]
