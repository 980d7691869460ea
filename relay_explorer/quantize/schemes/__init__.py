"""Quantization schemes, one in each module, all written with the public interface (`scheme`)."""

from __future__ import annotations

from .int8_int16 import Int8Int16
from .per_channel_asymmetric import PerChannelAsymmetric
from .ternary import Ternary
from .tvm_symmetric import TvmSymmetric
from .weights_4bit_groups import Weights4BitGroups

__all__ = ["Int8Int16", "PerChannelAsymmetric", "Ternary", "TvmSymmetric", "Weights4BitGroups"]
