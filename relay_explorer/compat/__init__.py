"""What the rest of `tvm` was, so that old Relay code runs: `from relay_explorer.compat import tvm`."""

from __future__ import annotations
