"""`relay.qnn`: operators on quantized tensors, and the passes that make plain operators of them."""

from __future__ import annotations

from . import op as op
from . import transform as transform
