"""The machine's memory for compiled kernels: used again, but never while anybody holds it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import relay_explorer
from relay_explorer.execute import list_items, make_list
from relay_explorer.lower.runtime.machine_memory import MAX_STORAGES, ROUNDED_BELOW_BYTES, KernelMemory
from relay_explorer.text import parse

# All results of a fold stay in the list; the sum of each is computed only after the call below it.
SUMS = """
type List[A] { Cons(A, List[A]), Nil }
def @sums(%l: List[Tensor[(3), float32]], %x: Tensor[(3), float32])
    -> (Tensor[(3), float32], List[Tensor[(3), float32]]) {
  match (%l) {
    Nil => { (%x, Nil) },
    Cons(%y, %rest) => {
      let %here = tanh(%x * %y);
      let %below = @sums(%rest, %here);
      (%here + %below.0, Cons(%here, %below.1))
    },
  }
}
def @main(%l: List[Tensor[(3), float32]], %x: Tensor[(3), float32])
    -> (Tensor[(3), float32], List[Tensor[(3), float32]]) {
  @sums(%l, %x)
}
"""


def meant(rows: list[Any], x: Any) -> tuple[Any, list[Any]]:
    if not rows:
        return x, []
    here = np.tanh(x * rows[0])
    total, items = meant(rows[1:], here)
    return here + total, [here, *items]


def rows(count: int, seed: int) -> list[Any]:
    return list(np.random.default_rng(seed).standard_normal((count, 3)).astype("float32"))


def check(result: Any, expected: Any) -> None:
    np.testing.assert_allclose(result[0], expected[0], rtol=1e-4)
    for item, row in zip(list_items(result[1]), expected[1], strict=True):
        np.testing.assert_allclose(item.numpy(), row, rtol=1e-4)


def test_what_anybody_holds_is_not_used_again() -> None:
    module = parse(SUMS)
    exe = relay_explorer.build(module, executor="vm", quiet=True)
    x = np.ones(3, "float32")
    # Results of several runs, held at once, and more activations at a time than an instruction keeps for.
    actual = [exe(make_list(module, rows(2 * MAX_STORAGES, seed)), x) for seed in range(3)]
    for seed, result in enumerate(actual):
        check(result, meant(rows(2 * MAX_STORAGES, seed), x))

    def many(seed: int) -> Any:
        return [exe(make_list(module, rows(5, seed)), x) for _ in range(20)]

    with ThreadPoolExecutor(4) as threads:
        for seed, results in enumerate(threads.map(many, range(8))):
            for result in results:
                check(result, meant(rows(5, seed), x))


def test_storage_is_given_again_when_it_is_free() -> None:
    memory = KernelMemory()
    assert memory.keeps  # this Python counts who holds an object as the module expects
    storage, tensor = memory.storages(64), memory.tensors((2, 8), "float32")
    first = tensor(storage())
    memory.known[id(first)] = memory.given(first)
    address = first.ctypes.data
    assert address % 64 == 0
    second = tensor(storage())
    assert second.ctypes.data != address
    view = first[1:].reshape(8, 1)
    del first
    assert tensor(storage()).ctypes.data != address  # the view is still there
    del view
    assert address in [tensor(storage()).ctypes.data for _ in range(4)]
    held = [tensor(storage()) for _ in range(3 * MAX_STORAGES)]
    assert len({array.ctypes.data for array in (*held, second)}) == 3 * MAX_STORAGES + 1
    assert len(memory.known) <= 1  # what was let go is not known any more


def test_arrays_that_kernels_cannot_read_have_copies_of_their_own() -> None:
    memory = KernelMemory()
    raw = np.arange(9, dtype="float32")
    odd = [raw[1:5], raw[5:9], raw[::-2]]
    copies = [memory.given(array) for array in odd]
    for copy, array in zip(copies, odd):
        np.testing.assert_array_equal(copy.numpy(), array)
    large = memory.storage(ROUNDED_BELOW_BYTES + 1)
    assert large.ctypes.data % 64 == 0
    assert large.nbytes == ROUNDED_BELOW_BYTES + 1
    weight = memory.constant(raw)
    np.testing.assert_array_equal(memory.known[id(weight)].numpy(), raw)
    values: list[Any] = [raw[1:], (raw,), raw.astype(">f4")]
    with memory.at_hand(values):
        assert id(values[0]) in memory.known
        np.testing.assert_array_equal(memory.known[id(values[0])].numpy(), raw[1:])
        np.testing.assert_array_equal(values[2], raw)
    assert id(values[0]) not in memory.known
