"""`relay.op.…`: functions that build calls of Relay's operators, and functions that declare new operators."""

from __future__ import annotations

from ..ir.expr import const as const
from ..ir.op import Op as Op
from ..ir.op import OpPattern as OpPattern
from ..ops.namespaces import *
from ..ops.namespaces import annotation as annotation
from ..ops.namespaces import image as image
from ..ops.namespaces import nn as nn
from ..ops.namespaces import random as random
from ..ops.namespaces import vision as vision
from ..ops.register import register as register
from ..ops.register import register_alter_op_layout as register_alter_op_layout
from ..ops.register import register_convert_op_layout as register_convert_op_layout
from ..ops.register import register_infer_correct_layout as register_infer_correct_layout
from ..ops.register import register_legalize as register_legalize
from ..ops.register import register_mixed_precision_conversion as register_mixed_precision_conversion
from ..ops.register import register_op_attr as register_op_attr
from ..ops.register import register_pattern as register_pattern
from ..ops.register import register_stateful as register_stateful
from ..transform.fake_quantization import (
    register_fake_quantization_to_integer as register_fake_quantization_to_integer,
)
from ..transform.fake_quantization import (
    register_optional_fake_quantization_to_integer as register_optional_fake_quantization_to_integer,
)

get = Op.get
