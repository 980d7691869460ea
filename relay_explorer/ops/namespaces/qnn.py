"""Builders of the operators in `relay.qnn.op`."""

from __future__ import annotations

from ..qnn.activations import *
from ..qnn.batch_matmul import *
from ..qnn.binary import *
from ..qnn.concatenate import *
from ..qnn.conv2d import *
from ..qnn.conv2d_transpose import *
from ..qnn.dense import *
from ..qnn.pool import *
from ..qnn.quantize import *
from ..qnn.requantize import *
from ..qnn.simulated import *
from ..qnn.table import *
