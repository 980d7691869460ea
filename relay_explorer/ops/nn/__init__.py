"""Neural-network operators: the namespace that `tvm.relay.nn` was."""

from __future__ import annotations

from .activation import fast_softmax, leaky_relu, log_softmax, prelu, relu, softmax
from .conv import conv1d, conv2d, conv3d
from .conv_other import conv2d_backward_weight, deformable_conv2d
from .conv_transpose import conv1d_transpose, conv2d_transpose, conv3d_transpose
from .dense import batch_matmul, bias_add, dense, matmul
from .loss import cross_entropy, cross_entropy_with_logits, nll_loss
from .misc import batch_flatten, correlation, fifo_buffer
from .norm import batch_norm, dropout, dropout_raw, group_norm, instance_norm, l2_normalize, layer_norm, lrn
from .pad import dilate, mirror_pad, pad
from .pool import (
    avg_pool1d,
    avg_pool2d,
    avg_pool2d_grad,
    avg_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool2d_grad,
    max_pool3d,
)
from .pool_adaptive import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    global_avg_pool1d,
    global_avg_pool2d,
    global_avg_pool3d,
    global_max_pool1d,
    global_max_pool2d,
    global_max_pool3d,
)
from .space import batch_to_space_nd, depth_to_space, space_to_batch_nd, space_to_depth, upsampling, upsampling3d

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool2d_grad",
    "avg_pool3d",
    "batch_flatten",
    "batch_matmul",
    "batch_norm",
    "batch_to_space_nd",
    "bias_add",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_backward_weight",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "correlation",
    "cross_entropy",
    "cross_entropy_with_logits",
    "deformable_conv2d",
    "dense",
    "depth_to_space",
    "dilate",
    "dropout",
    "dropout_raw",
    "fast_softmax",
    "fifo_buffer",
    "global_avg_pool1d",
    "global_avg_pool2d",
    "global_avg_pool3d",
    "global_max_pool1d",
    "global_max_pool2d",
    "global_max_pool3d",
    "group_norm",
    "instance_norm",
    "l2_normalize",
    "layer_norm",
    "leaky_relu",
    "log_softmax",
    "lrn",
    "matmul",
    "max_pool1d",
    "max_pool2d",
    "max_pool2d_grad",
    "max_pool3d",
    "mirror_pad",
    "nll_loss",
    "pad",
    "prelu",
    "relu",
    "softmax",
    "space_to_batch_nd",
    "space_to_depth",
    "upsampling",
    "upsampling3d",
]
