"""The kernel cache on disk: `store` reads and writes entries, `pruning` limits their total size."""

from __future__ import annotations

from .store import VARIABLE, digest, folder, get, key, put

__all__ = ["VARIABLE", "digest", "folder", "get", "key", "put"]
