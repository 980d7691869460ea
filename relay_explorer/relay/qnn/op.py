"""`relay.qnn.op.…`: functions that build calls of quantized operators, and the defaults of requantization."""

from __future__ import annotations

from ...ops.namespaces.qnn import *
from ...ops.qnn.config import RequantizeConfig as RequantizeConfig
from ...ops.qnn.config import current_requantize_config as current_requantize_config
from ...ops.qnn.config import requantize_config as requantize_config
