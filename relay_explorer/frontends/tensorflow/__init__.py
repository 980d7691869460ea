"""The importer of TensorFlow's graphs and SavedModels."""

from __future__ import annotations

from .api import from_tensorflow

__all__ = ["from_tensorflow"]
