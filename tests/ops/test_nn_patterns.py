"""The pattern kinds of neural-network operators, as the reference had them: fusion decides by them."""

from __future__ import annotations

from relay_explorer.ir.op import PATTERN_NAMES, Op

EXPECTED = {
    "element-wise": "leaky_relu relu",
    "broadcast": "bias_add prelu",
    "injective": (
        "batch_flatten batch_to_space_nd bitpack depth_to_space dilate mirror_pad pad space_to_batch_nd "
        "space_to_depth upsampling upsampling3d"
    ),
    "complex-out-fusable": (
        "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d "
        "adaptive_max_pool3d avg_pool1d avg_pool2d avg_pool2d_grad avg_pool3d batch_matmul batch_norm "
        "bitserial_conv2d bitserial_dense contrib_conv2d_NCHWc contrib_conv2d_winograd_weight_transform "
        "contrib_conv2d_winograd_without_weight_transform contrib_dense_pack contrib_depthwise_conv2d_NCHWc "
        "conv1d "
        "conv1d_transpose conv2d conv2d_backward_weight conv2d_transpose conv3d conv3d_transpose correlation "
        "deformable_conv2d dense fast_softmax global_avg_pool2d global_max_pool2d log_softmax matmul "
        "max_pool1d max_pool2d max_pool2d_grad max_pool3d nll_loss softmax "
        "sparse_dense sparse_transpose"
    ),
    "opaque": (
        "cross_entropy cross_entropy_with_logits dropout fifo_buffer group_norm instance_norm l2_normalize "
        "layer_norm lrn sparse_add"
    ),
}


NOT_THE_REFERENCES = {"nn.contrib_dense_nbits"}  # operators that the reference did not have


def test_pattern_kinds_are_the_references() -> None:
    found: dict[str, list[str]] = {}
    for name in Op.list_op_names():
        if name.startswith("nn.") and name not in NOT_THE_REFERENCES:
            found.setdefault(PATTERN_NAMES[Op.get(name).pattern], []).append(name.removeprefix("nn."))
    assert {kind: " ".join(names) for kind, names in found.items()} == EXPECTED
