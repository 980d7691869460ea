"""`relay.build_module.…`: functions that run a module."""

from __future__ import annotations

from ..ir.bind import bind_params_by_name as bind_params_by_name
from ..lower.executor import create_executor as create_executor
