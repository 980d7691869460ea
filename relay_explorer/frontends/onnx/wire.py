"""Cut the weights out of a serialized model before protobuf parses it, so that they are never copied.

A protobuf message is a list of fields: a number (field << 3 | kind), then a number of variable length, 4 or 8
bytes, or a length and that many bytes. A message within a message is bytes, and so is a list of real numbers,
with the same bytes as raw data. To cut, we copy all fields of ModelProto.graph.initializer but these, and
correct the lengths of the messages around it.
"""

from __future__ import annotations

_GRAPH, _INITIALIZER = 7, 5  # fields of ModelProto and GraphProto (onnx.proto)
_DATA_TYPE, _FLOAT_DATA, _RAW_DATA, _DOUBLE_DATA = 2, 4, 9, 10  # fields of TensorProto
_LISTS = {_FLOAT_DATA: 1, _DOUBLE_DATA: 11}  # with the element type whose bytes a list has
_SMALLEST = 1024  # bytes of raw data that are worth cutting

Chunks = list[bytes | memoryview]


class MalformedError(ValueError):
    """The bytes are not a protobuf message."""


def cut(data: memoryview) -> tuple[bytes, dict[int, memoryview]]:
    """Return the serialized model without large raw data, and the raw data by the initializer's index.

    Raise a MalformedError for what is not a protobuf message or is truncated.
    """
    fields = _fields(data)
    graphs = [field for field in fields if field[0] == _GRAPH and field[1] == 2]
    if len(graphs) != 1:  # protobuf would merge several; none is an error that the caller finds
        return bytes(data), {}
    weights: dict[int, memoryview] = {}
    chunks: Chunks = []
    for number, kind, start, content, end in fields:
        if number == _GRAPH and kind == 2:
            _append(chunks, _GRAPH, _cut_graph(data[content:end], weights))
        else:
            chunks.append(data[start:end])
    return b"".join(chunks), weights


def _cut_graph(graph: memoryview, weights: dict[int, memoryview]) -> Chunks:
    chunks: Chunks = []
    index = 0
    for number, kind, start, content, end in _fields(graph):
        if number != _INITIALIZER or kind != 2:
            chunks.append(graph[start:end])
            continue
        tensor = graph[content:end]
        raw = None
        if len(tensor) >= _SMALLEST:
            parts = _fields(tensor)
            raws = [part for part in parts if part[0] in (_RAW_DATA, *_LISTS)]
            if len(raws) == 1 and raws[0][1] == 2 and raws[0][4] - raws[0][3] >= _SMALLEST:
                field = raws[0][0]
                if field == _RAW_DATA or _LISTS[field] == _data_type(tensor, parts):
                    raw = raws[0]
        if raw is None:
            chunks.append(graph[start:end])
        else:
            weights[index] = tensor[raw[3] : raw[4]]
            _append(chunks, _INITIALIZER, [tensor[part[2] : part[4]] for part in parts if part is not raw])
        index += 1
    return chunks


def _data_type(tensor: memoryview, parts: list[tuple[int, int, int, int, int]]) -> int:
    """Return the number of a tensor's element type; of several, the last counts."""
    numbers = [_read_varint(tensor, part[3])[0] for part in parts if part[:2] == (_DATA_TYPE, 0)]
    return numbers[-1] if numbers else 0


def _append(chunks: Chunks, number: int, content: Chunks) -> None:
    """Append a field whose content is a message."""
    chunks.append(_varint(number << 3 | 2))
    chunks.append(_varint(sum(map(len, content))))
    chunks += content


def _fields(data: memoryview) -> list[tuple[int, int, int, int, int]]:
    """Return (number, kind, start, start of the content, end) of each field of a message."""
    fields: list[tuple[int, int, int, int, int]] = []
    position, size = 0, len(data)
    while position < size:
        start = position
        key, position = _read_varint(data, position)
        kind = key & 7
        content = position
        if kind == 0:
            _, position = _read_varint(data, position)
        elif kind == 1:
            position += 8
        elif kind == 2:
            length, content = _read_varint(data, position)
            position = content + length
        elif kind == 5:
            position += 4
        else:
            raise MalformedError(f"a field at byte {start} has the unknown kind {kind}")
        if position > size:
            raise MalformedError(
                f"a field at byte {start} ends {position - size} bytes after the end of the data"
            )
        fields.append((key >> 3, kind, start, content, position))
    return fields


def _read_varint(data: memoryview, position: int) -> tuple[int, int]:
    """Return a number of variable length (seven bits a byte, the least first), and the position after it."""
    result = shift = 0
    while True:
        if position >= len(data) or shift > 63:
            raise MalformedError("the data end within a number")
        byte = data[position]
        position += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, position
        shift += 7


def _varint(value: int) -> bytes:
    result = bytearray()
    while value > 0x7F:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)
