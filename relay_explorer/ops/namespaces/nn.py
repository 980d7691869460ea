"""Builders of the operators in `relay.nn`."""

from __future__ import annotations

from ..nn.activation import *
from ..nn.batch_norm import *
from ..nn.batch_space import *
from ..nn.bias_add import *
from ..nn.bitpack import *
from ..nn.bitserial import *
from ..nn.convolution.backward_weight import *
from ..nn.convolution.deformable import *
from ..nn.convolution.direct import *
from ..nn.convolution.packed import *
from ..nn.convolution.transposed import *
from ..nn.convolution.winograd import *
from ..nn.dense import *
from ..nn.dense_nbits import *
from ..nn.dropout import *
from ..nn.loss import *
from ..nn.matmul import *
from ..nn.misc import *
from ..nn.norm import *
from ..nn.norm_other import *
from ..nn.pad import *
from ..nn.pool import *
from ..nn.pool_adaptive import *
from ..nn.pool_grad import *
from ..nn.softmax import *
from ..nn.space import *
from ..nn.sparse import *
from ..nn.upsampling import *
