"""Kernels of the emulated GPU are kept apart from the user's."""

from __future__ import annotations

from tests.lower.conftest import kernels_of_their_own

__all__ = ["kernels_of_their_own"]
