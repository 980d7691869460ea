"""TensorFlow's messages (GraphDef, FunctionDef, SavedModel, checkpoints) for protobuf, without TensorFlow.

The descriptors list only the fields that the importer reads; protobuf skips the others. They are in a pool of
their own, so TensorFlow may be imported in the same process.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..base.errors import ModelFileError
from ..base.require import require

# Fields are `number name type`; `*type` is repeated, `{type}` a map with strings as keys.
_MESSAGES = {
    "Dim": "1 size int64, 2 name string",
    "TensorShape": "2 dim *Dim, 3 unknown_rank bool",
    "Tensor": (
        "1 dtype int32, 2 tensor_shape TensorShape, 4 tensor_content bytes, 5 float_val *float, "
        "6 double_val *double, 7 int_val *int32, 8 string_val *bytes, 9 scomplex_val *float, "
        "10 int64_val *int64, 11 bool_val *bool, 12 dcomplex_val *double, 13 half_val *int32, "
        "16 uint32_val *uint32, 17 uint64_val *uint64, 18 float8_val bytes"
    ),
    "AttrList": (
        "2 s *bytes, 3 i *int64, 4 f *float, 5 b *bool, 6 type *int32, 7 shape *TensorShape, "
        "8 tensor *Tensor, 9 func *NameAttrList"
    ),
    "NameAttrList": "1 name string, 2 attr {AttrValue}",
    "AttrValue": (
        "1 list AttrList, 2 s bytes, 3 i int64, 4 f float, 5 b bool, 6 type int32, 7 shape TensorShape, "
        "8 tensor Tensor, 9 placeholder string, 10 func NameAttrList"
    ),
    "NodeDef": "1 name string, 2 op string, 3 input *string, 4 device string, 5 attr {AttrValue}",
    "ArgDef": (
        "1 name string, 3 type int32, 4 type_attr string, 5 number_attr string, 6 type_list_attr string"
    ),
    "OpDef": "1 name string, 2 input_arg *ArgDef, 3 output_arg *ArgDef",
    "FunctionDef": "1 signature OpDef, 3 node_def *NodeDef, 4 ret {string}, 5 attr {AttrValue}",
    "FunctionLibrary": "1 function *FunctionDef",
    "GraphDef": "1 node *NodeDef, 2 library FunctionLibrary",
    "TensorInfo": "1 name string, 2 dtype int32, 3 tensor_shape TensorShape",
    "SignatureDef": "1 inputs {TensorInfo}, 2 outputs {TensorInfo}, 3 method_name string",
    "MetaInfo": "4 tags *string",
    "MetaGraph": "1 meta_info_def MetaInfo, 2 graph_def GraphDef, 5 signature_def {SignatureDef}",
    "SavedModel": "1 saved_model_schema_version int64, 2 meta_graphs *MetaGraph",
    "BundleHeader": "1 num_shards int32, 2 endianness int32",
    "BundleEntry": (
        "1 dtype int32, 2 shape TensorShape, 3 shard_id int32, 4 offset int64, 5 size int64, 7 slices *bytes"
    ),
}
_ONEOFS = {"AttrValue": "value"}  # all fields of the message are alternatives
_PACKAGE = "relay_explorer.tensorflow"


@cache
def message(name: str) -> Any:
    """Return the class of a message, such as `GraphDef`."""
    pool = _pool()
    factory = require("google.protobuf.message_factory", "tensorflow")
    return factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


def parse(name: str, data: bytes, what: str) -> Any:
    """Return the message of the class `name` that `data` encodes; `what` names the file in errors."""
    result = message(name)()
    errors = require("google.protobuf.message", "tensorflow")
    try:
        result.ParseFromString(data)
    except (errors.DecodeError, RecursionError, MemoryError, ValueError) as error:
        raise ModelFileError(
            f"{what} cannot be read as TensorFlow's {name}: {error}",
            help=["the file is truncated or of another format"],
        ) from error
    return result


@cache
def _pool() -> Any:
    """Build the pool of descriptors from the table."""
    descriptors = require("google.protobuf.descriptor_pb2", "tensorflow")
    pools = require("google.protobuf.descriptor_pool", "tensorflow")
    file = descriptors.FileDescriptorProto(
        name="relay_explorer/tensorflow.proto", package=_PACKAGE, syntax="proto3"
    )
    field_types = descriptors.FieldDescriptorProto
    for name, fields in _MESSAGES.items():
        described = file.message_type.add(name=name)
        if name in _ONEOFS:
            described.oneof_decl.add(name=_ONEOFS[name])
        for entry in fields.split(", "):
            number, field_name, kind = entry.split()
            field = described.field.add(name=field_name, number=int(number))
            repeated = kind.startswith(("*", "{"))
            field.label = field_types.LABEL_REPEATED if repeated else field_types.LABEL_OPTIONAL
            if kind.startswith("{"):
                pair = described.nested_type.add(name=_entry_name(field_name))
                pair.options.map_entry = True
                for position, (part, of) in enumerate((("key", "string"), ("value", kind[1:-1])), 1):
                    inner = pair.field.add(name=part, number=position, label=field_types.LABEL_OPTIONAL)
                    _set_type(inner, of, field_types)
                _set_type(field, f"{name}.{pair.name}", field_types)
            else:
                _set_type(field, kind.lstrip("*"), field_types)
            if name in _ONEOFS:
                field.oneof_index = 0
    pool = pools.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return pool


def _set_type(field: Any, kind: str, field_types: Any) -> None:
    if kind[0].islower():
        field.type = getattr(field_types, f"TYPE_{kind.upper()}")
    else:
        field.type = field_types.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{kind}"


def _entry_name(field_name: str) -> str:
    """Return the name that protobuf demands of the message of a map's entries."""
    return "".join(part.capitalize() for part in field_name.split("_")) + "Entry"
