"""`torch.compile(model, backend="relay")`: compile the graphs that PyTorch captures."""

from __future__ import annotations

from .backend import relay_backend
from .compiled import Compiled, RelayFallbackWarning, last_compiled
from .options import Options

__all__ = ["Compiled", "Options", "RelayFallbackWarning", "last_compiled", "relay_backend"]
