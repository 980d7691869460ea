"""Convolutions on an emulated GPU: tiles that do not divide what they are laid over, every kind of window and
of channels, what follows applied to the sums, and what warps ask of memory for it.
"""

from __future__ import annotations

import pytest

from relay_explorer.lower.schedules.gpu_convolution import MAX_SHARED_BYTES
from relay_explorer.lower.schedules.gpu_tiles import MAX_ACCUMULATORS, THREADS, Window, best, ragged, shared
from relay_explorer.testing.emulated_gpu import Launch, emulated_gpu
from tests.emulated.test_kernels import agree, case


def program(data: str, weight: str, call: str, dtype: str = "float32", more: str = "") -> str:
    """`call` is of %x and %w; `more` are further parameters."""
    return f"def @main(%x: Tensor[({data}), {dtype}], %w: Tensor[({weight}), {dtype}]{more}) {{ {call} }}"


# Sizes that no tile divides. Each is one kernel, whose launches are one.
TILED = {
    "with what follows": program(
        "1, 5, 9, 11",
        "7, 5, 3, 3",
        "nn.relu(nn.bias_add(nn.conv2d(%x, %w, padding=[1, 1, 1, 1]), %b) + %r)",
        more=", %b: Tensor[(7), float32], %r: Tensor[(1, 7, 9, 11), float32]",
    ),
    "1 x 1": program("2, 19, 6, 7", "13, 19, 1, 1", "nn.conv2d(%x, %w)"),
    "far apart": program(
        "1, 3, 17, 15",
        "9, 3, 3, 3",
        "nn.conv2d(%x, %w, padding=[2, 1, 0, 3], strides=[2, 1], dilation=[2, 1])",
    ),
    "depthwise": program("1, 3, 9, 9", "6, 1, 3, 3", "nn.conv2d(%x, %w, padding=[1, 1, 1, 1], groups=3)"),
    "groups": program("1, 8, 9, 9", "12, 2, 3, 3", "nn.relu(nn.conv2d(%x, %w, groups=4))"),
    "narrow": program("1, 5, 9, 11", "7, 5, 3, 3", "nn.relu(nn.conv2d(%x, %w))", "float16"),
    "one axis": program("2, 4, 33", "5, 4, 3", "nn.conv1d(%x, %w, padding=[1, 1], strides=[2])"),
    "three axes": program("1, 3, 5, 6, 7", "4, 3, 3, 2, 3", "nn.conv3d(%x, %w, padding=[1, 1, 1, 1, 1, 1])"),
    "transposed": program("1, 4, 5, 6", "4, 3, 3, 3", "nn.conv2d_transpose(%x, %w, padding=[1, 1, 1, 1])"),
}
IN_TWO = {"in phases": program("1, 16, 5, 3", "16, 33, 3, 3", "nn.conv2d_transpose(%x, %w, strides=[2, 2])")}
IN_REGISTERS = {
    "a pool": "def @main(%x: Tensor[(1, 3, 9, 9), float32]) { nn.relu(nn.max_pool2d(%x, pool_size=[3, 3])) }",
    "channels last": program(
        "1, 9, 11, 5", "3, 3, 1, 5", 'nn.conv2d(%x, %w, groups=5, data_layout="NHWC", kernel_layout="HWIO")'
    ),
}


def test_they_are_right() -> None:
    """Races, barriers and accesses outside are seen, too."""
    programs = TILED | IN_TWO | IN_REGISTERS
    with emulated_gpu() as gpu:
        result = agree([case(text) for text in programs.values()])
        launches = len(gpu.launches)
    rules = [schedule.choice["rule"] for schedule in result]
    assert rules == ["Convolution"] * (len(TILED) + len(IN_TWO)) + ["Sums"] * len(IN_REGISTERS)
    assert not any(schedule.refused for schedule in result)
    # What follows is applied before sums are stored; phases are put between each other at the end.
    assert launches == len(programs) + len(IN_TWO)


def pieces(launches: list[Launch]) -> int:
    """Pieces of global memory that are read and written."""
    return sum(a.units for launch in launches for a in launch.accesses if a.array != "shared")


def test_what_they_ask_of_memory() -> None:
    """A tile is read once for all that is made of it, many times less than by each thread for itself."""
    one = case(program("1, 8, 8, 16", "8, 8, 3, 3", "nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1]))"))
    with emulated_gpu(counts=True) as gpu:
        agree([one])
        (launch,) = gpu.launches
        ours = pieces(gpu.launches)
        gpu.forget()
        agree([one], {"rule": "Fallback"})
        naive = pieces(gpu.launches)
    assert naive > 20 * ours
    # Neighbours store side by side, and no word of shared memory keeps more than one other waiting.
    (written,) = [a for a in launch.accesses if a.writes and a.array != "shared"]
    assert written.units <= 1.5 * written.lanes / 8
    near = [a for a in launch.accesses if a.array == "shared"]
    assert sum(a.units for a in near) <= 1.5 * sum(a.requests for a in near)


# -- tiles

WINDOWS = {
    "ResNet, first": Window(1, 64, 64, 3, 112, 112, (7, 7), (2, 2)),
    "ResNet, last": Window(1, 512, 512, 512, 7, 7, (3, 3)),
    "many images": Window(64, 128, 128, 128, 28, 28, (3, 3)),
    "depthwise": Window(1, 512, 1, 1, 14, 14, (3, 3)),
    "groups of four": Window(1, 128, 4, 4, 56, 56, (3, 3)),
    "primes": Window(1, 127, 127, 37, 53, 211, (3, 3)),
    "primes with a stride": Window(1, 61, 61, 3, 55, 113, (11, 11), (4, 4)),
    "one row": Window(2, 16, 16, 8, 1, 100_000, (1, 9)),
    "one place": Window(1, 1000, 1, 1, 1, 1, (1, 1)),
}


@pytest.mark.parametrize("window", WINDOWS.values(), ids=list(WINDOWS))
def test_a_tile_fits(window: Window) -> None:
    tile = best(window)
    assert tile is not None
    assert tile.threads <= THREADS[1]
    assert tile.sums <= MAX_ACCUMULATORS
    assert shared(window, tile) * window.bytes <= MAX_SHARED_BYTES
    assert window.inputs % tile.inputs == 0
    assert window.group in (1, window.outputs) or window.group % tile.outputs == 0
    assert not (ragged(window, tile) and max(window.strides) > 1 and window.wide % tile.across)


def test_larger_tiles_for_more_work_and_none_for_what_fits_nowhere() -> None:
    few, many = (best(Window(images, 64, 64, 64, 56, 56, (3, 3))) for images in (1, 32))
    assert few is not None
    assert many is not None
    assert 1 < few.sums < many.sums
    assert best(Window(1, 8, 8, 8, 64, 64, (99, 99))) is None
