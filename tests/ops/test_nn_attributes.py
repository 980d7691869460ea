"""The attributes of neural-network operators: their names, order and defaults, as the reference had them.

One default differs: the weight of a Winograd convolution has its two tile axes first here.
"""

from __future__ import annotations

from relay_explorer.ir.attrs import REQUIRED, Attrs
from relay_explorer.ir.op import Op

CONV = "groups=1 channels=None kernel_size=None data_layout={0} kernel_layout={1} out_layout= out_dtype="
EXPECTED = f"""
AdaptivePool1DAttrs: output_size=[] layout=NCW out_layout=
AdaptivePool2DAttrs: output_size=[] layout=NCHW out_layout=
AdaptivePool3DAttrs: output_size=[] layout=NCDHW out_layout=
AvgPool1DAttrs: pool_size strides=[1] dilation=[1] padding=[0] layout=NCW out_layout= ceil_mode=False count_include_pad=False
AvgPool2DAttrs: pool_size strides=[1, 1] dilation=[1, 1] padding=[0, 0] layout=NCHW out_layout= ceil_mode=False count_include_pad=False
AvgPool3DAttrs: pool_size strides=[1, 1, 1] dilation=[1, 1, 1] padding=[0, 0, 0] layout=NCDHW out_layout= ceil_mode=False count_include_pad=False
BatchMatmulAttrs: out_dtype= transpose_a=False transpose_b=False
BatchNormAttrs: axis=1 epsilon=1e-05 center=True scale=True
BatchToSpaceNDAttrs: block_shape=[1, 1] crops
BiasAddAttrs: axis=1
BinaryConv2DAttrs: strides=[1, 1] padding=[0, 0] channels=None kernel_size=None activation_bits=1 weight_bits=1 data_layout=NCHW kernel_layout=OIHW pack_dtype=uint32 out_dtype= unipolar=True
BinaryDenseAttrs: units=None data_bits=1 weight_bits=1 pack_dtype=uint32 out_dtype= unipolar=True
BitPackAttrs: bits=1 pack_axis=1 bit_axis=-1 pack_type=uint32 name=BitPack
Conv1DAttrs: strides=[1] padding=[0, 0] dilation=[1] {CONV.format("NCW", "OIW")}
Conv1DTransposeAttrs: channels=None kernel_size=None strides=[1] output_padding=[0] padding=[0] dilation=[1] groups=1 data_layout=NCW kernel_layout=IOW out_layout= out_dtype=
Conv2DAttrs: strides=[1, 1] padding=[0, 0] dilation=[1, 1] {CONV.format("NCHW", "OIHW")}
Conv2DTransposeAttrs: channels=None kernel_size=None strides=[1, 1] output_padding=[0, 0] padding=[0, 0] dilation=[1, 1] groups=1 data_layout=NCHW kernel_layout=IOHW out_layout= out_dtype=
Conv2DWinogradAttrs: tile_size strides=[1, 1] padding=[0, 0] dilation=[1, 1] {CONV.format("NCHW", "HWOI")}
Conv3DAttrs: strides=[1, 1, 1] padding=[0, 0, 0] dilation=[1, 1, 1] {CONV.format("NCDHW", "OIDHW")}
Conv3DTransposeAttrs: channels=None kernel_size=None strides=[1, 1, 1] output_padding=[0, 0, 0] padding=[0, 0, 0] dilation=[1, 1, 1] groups=1 data_layout=NCDHW kernel_layout=IODHW out_layout= out_dtype=
ConvWinogradWeightTransformAttrs: tile_size
CorrelationAttrs: kernel_size=1 max_displacement=1 stride1=1 stride2=1 padding=[0, 0] is_multiply=True layout=NCHW
DeformableConv2DAttrs: strides=[1, 1] padding=[0, 0] dilation=[1, 1] deformable_groups=1 {CONV.format("NCHW", "OIHW")}
DenseAttrs: units=None out_dtype=
DensePackAttrs: units=None out_dtype= weight_layout=NC
DilateAttrs: strides=[1, 1] dilation_value=0.0
DropoutAttrs: rate=0.5
FIFOBufferAttrs: axis=0
GlobalPool2DAttrs: layout=NCHW out_layout=
GroupNormAttrs: num_groups=0 axis=1 epsilon=1e-05 center=True scale=True
InstanceNormAttrs: axis=1 epsilon=1e-05 center=True scale=True
L2NormalizeAttrs: eps axis=None
LRNAttrs: size=5 axis=1 bias=2.0 alpha=0.0001 beta=0.75
LayerNormAttrs: axis=-1 epsilon=1e-05 center=True scale=True
LeakyReluAttrs: alpha=0.25
MatmulAttrs: units=None out_dtype= transpose_a=False transpose_b=False
MaxPool1DAttrs: pool_size strides=[1] dilation=[1] padding=[0] layout=NCW out_layout= ceil_mode=False
MaxPool2DAttrs: pool_size strides=[1, 1] dilation=[1, 1] padding=[0, 0] layout=NCHW out_layout= ceil_mode=False
MaxPool3DAttrs: pool_size strides=[1, 1, 1] dilation=[1, 1, 1] padding=[0, 0, 0] layout=NCDHW out_layout= ceil_mode=False
MirrorPadAttrs: mode=SYMMETRIC pad_width
NLLLossAttrs: reduction=mean ignore_index
PReluAttrs: axis=1
PadAttrs: pad_width pad_mode=constant
SoftmaxAttrs: axis=-1
SpaceToBatchNDAttrs: block_shape=[1, 1] paddings pad_value=0.0
SparseDenseAttrs: sparse_lhs=False
SparseTransposeAttrs:
SubPixelAttrs: block_size=1 layout=NCHW mode=DCR
UpSampling3DAttrs: scale_d scale_h scale_w layout=NCDHW method=nearest_neighbor coordinate_transformation_mode=half_pixel
UpSamplingAttrs: scale_h scale_w layout=NCHW method=nearest_neighbor align_corners=False
"""  # noqa: E501


# Of operators for kernels that the reference did not have.
OWN = f"""
DenseNBitsAttrs: bits=4 group_size=32 weight_layout=NC
PackedConv2DAttrs: strides=[1, 1] padding=[0, 0] dilation=[1, 1] {CONV.format("NCHW", "OIHW")} pad_value=0
"""


def written(attrs: type[Attrs]) -> str:
    def default(value: object) -> str:
        return str(list(value)) if isinstance(value, tuple) else str(value)

    fields = [
        name if field.default is REQUIRED else f"{name}={default(field.default)}"
        for name, field in attrs._fields.items()
    ]
    return f"{attrs._key.removeprefix('relay.attrs.')}: {' '.join(fields)}".rstrip()


def test_attributes_are_the_references() -> None:
    classes = {op.attrs_class for op in map(Op.get, Op.list_op_names()) if op.name.startswith("nn.")} - {None}
    attributes = {written(c) for c in classes if c} - set(OWN.strip().split("\n"))
    assert sorted(attributes) == EXPECTED.strip().split("\n")
