"""The importer of TorchScript: `from_pytorch`."""

from __future__ import annotations

from .importer import from_pytorch

__all__ = ["from_pytorch"]
