"""The values of running programs, under the names that they had in `tvm.relay.backend.interpreter`."""

from __future__ import annotations

from ...execute import Executor as Executor
from ...execute.results import ConstructorValue as ConstructorValue
from ...execute.results import RefValue as RefValue
