"""Kernels of the emulated GPU are kept apart from the user's. Where there is a real one, its libraries must
not come first.
"""

from __future__ import annotations

import shutil

from relay_explorer.testing.emulated_gpu.gpu import stand_ins
from tests.lower.conftest import kernels_of_their_own

__all__ = ["kernels_of_their_own"]

if shutil.which("nvidia-smi") is not None:
    stand_ins()
