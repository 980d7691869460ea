"""Damaged and hostile TFLite files give an error of the importer: no traceback from inside, no hang."""

from __future__ import annotations

import contextlib
import random
import struct
import time

import pytest

from relay_explorer.frontends.base.errors import ModelFileError
from relay_explorer.frontends.tflite import from_tflite, read
from relay_explorer.ir.errors import RelayError
from tests.frontends.tflite.files import path_of


@pytest.mark.parametrize(
    "contents", [b"", b"TFL3", b"not a model at all", b"\0\0\0\0TFL3", b"\xff" * 4 + b"TFL3"]
)
def test_what_is_no_model_is_refused(contents: bytes) -> None:
    with pytest.raises(ModelFileError):
        from_tflite(contents)


def test_a_truncated_file_is_refused() -> None:
    contents = path_of("attention").read_bytes()
    for length in range(8, len(contents), 301):
        with pytest.raises(RelayError):
            from_tflite(contents[:length])


@pytest.mark.parametrize("seed", range(4))
def test_changed_bytes_never_escape_as_other_errors(seed: int) -> None:
    chance = random.Random(seed)
    for name in ("conv_float", "loops", "dynamic", "sparse", "detection_fast"):
        for _ in range(40):
            contents = bytearray(path_of(name).read_bytes())
            for _ in range(chance.choice((1, 2, 8))):
                place = chance.randrange(8, len(contents) - 4) & ~3
                value = chance.choice((0, 0xFFFFFFFF, 0x7FFFFFFF, chance.randrange(1 << 32)))
                contents[place : place + 4] = struct.pack("<I", value)
            started = time.perf_counter()
            with contextlib.suppress(RelayError):
                from_tflite(bytes(contents))
            assert time.perf_counter() - started < 20


def test_a_number_of_subgraphs_beyond_the_file_is_refused_at_once() -> None:
    contents = bytearray(path_of("branches").read_bytes())
    (root,) = struct.unpack_from("<I", contents)
    (back,) = struct.unpack_from("<i", contents, root)
    (field,) = struct.unpack_from("<H", contents, root - back + 8)  # the third field of a model
    (offset,) = struct.unpack_from("<I", contents, root + field)
    struct.pack_into("<I", contents, root + field + offset, 0x7FFFFFFF)
    with pytest.raises(ModelFileError, match="more elements than its bytes"):
        read(bytes(contents))


def test_a_subgraph_that_contains_itself_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = read(path_of("branches"))
    inner = model.subgraphs[1]
    (branch,) = [op for op in model.subgraphs[0].operators if op.name == "IF"]
    inner.operators.insert(0, branch)  # its branches are subgraphs 1 and 2
    inner.tensors[:] = model.subgraphs[0].tensors
    monkeypatch.setattr("relay_explorer.frontends.tflite.importer.read", lambda _: model)
    with pytest.raises(RelayError):
        from_tflite(b"")


def test_a_constant_whose_bytes_disagree_with_its_shape_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    contents = path_of("conv_float").read_bytes()
    import tflite  # type: ignore[import-untyped]

    model = tflite.Model.GetRootAs(contents, 0)
    changed = bytearray(contents)
    graph = model.Subgraphs(0)
    for index in range(graph.TensorsLength()):
        tensor = graph.Tensors(index)
        if model.Buffers(tensor.Buffer()).DataLength() and tensor.ShapeLength() == 4:
            vector = tensor._tab.Vector(tensor._tab.Offset(4))
            struct.pack_into("<i", changed, vector, 1 << 30)
            break
    with pytest.raises(ModelFileError, match="bytes, which are not"):
        from_tflite(bytes(changed))
