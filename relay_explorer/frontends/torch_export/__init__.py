"""The importer of programs that `torch.export` returns: `from_exported_program`."""

from __future__ import annotations

from .entry import from_exported_program

__all__ = ["from_exported_program"]
