"""What `make test-gpu` runs is not part of `make test`. Without a GPU the tests of `test_device.py` fail, and
without nvcc those of `test_source.py`.
"""

from __future__ import annotations

from tests.lower.conftest import kernels_of_their_own

__all__ = ["kernels_of_their_own"]
