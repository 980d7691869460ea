"""Builders of the operators in `relay.nn`."""

from __future__ import annotations

from ..nn.activation import *
from ..nn.batch_norm import *
from ..nn.batch_space import *
from ..nn.bias_add import *
from ..nn.bitserial import *
from ..nn.conv import *
from ..nn.conv_other import *
from ..nn.conv_transpose import *
from ..nn.dense import *
from ..nn.dropout import *
from ..nn.dynamic import *
from ..nn.loss import *
from ..nn.matmul import *
from ..nn.misc import *
from ..nn.norm import *
from ..nn.norm_other import *
from ..nn.packed import *
from ..nn.pad import *
from ..nn.pool import *
from ..nn.pool_adaptive import *
from ..nn.pool_grad import *
from ..nn.softmax import *
from ..nn.space import *
from ..nn.sparse import *
from ..nn.upsampling import *
from ..nn.winograd import *
