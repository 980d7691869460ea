"""Ways to run a module: `relay.build_module.…`."""

from __future__ import annotations

from ..ir.bind import bind_params_by_name as bind_params_by_name
from ..lower.executor import create_executor as create_executor
