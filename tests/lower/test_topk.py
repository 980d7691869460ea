"""The first few of long rows, which are found without sorting: NaN is the greatest, of equals the first is
taken, rows that are in order and in the opposite order are no exception.
"""

from __future__ import annotations

import numpy as np

from relay_explorer import relay
from relay_explorer.ops.te import sort
from tests.lower.kernels import agree, case


def test_the_first_few_of_long_rows() -> None:
    rng = np.random.default_rng(0)
    ties = rng.integers(-3, 3, (3, 90)).astype("float32")
    ties[1, [4, 9, 30]] = np.nan, np.inf, np.nan
    ties[2, ::2], ties[2, 1::2] = -np.inf, -0.0
    steps = np.stack([np.arange(90), -np.arange(90)])
    large = rng.integers(0, 2**32, (2, 90), dtype="uint32")
    cases = []
    for data in (ties, ties.astype("float16"), steps.astype("int32"), steps.astype("int64"), large, ties > 0):
        x = relay.var("x", shape=data.shape, dtype=str(data.dtype))
        cases.append(
            case(relay.topk(x, 22, 1, "both", data is ties), data)
        )  # where there are keys, in batches
        if data.dtype.name in ("float32", "bool"):
            cases += [case(relay.topk(x, 2, 1, "both", up), data) for up in (False, True)]  # one by one
            cases.append(case(relay.topk(x, 22, 1, "indices", data is not ties), data))
    turned = relay.var("x", shape=ties.T.shape)
    cases += [case(relay.topk(turned, k, 0, "both"), ties.T.copy()) for k in (1, 22)]
    agree(cases, optimized=False)


def test_rows_of_all_lengths_are_put_in_order() -> None:
    rng = np.random.default_rng(1)
    cases = []
    for size, dtype in ((1, "float32"), (2, "int32"), (37, "float32"), (64, "uint32"), (29, "float64")):
        data = (rng.standard_normal((3, size)) * 9).round().astype("int64" if "u" in dtype else dtype)
        x = relay.var("x", shape=data.shape, dtype=dtype)
        for ascending in (False, True):
            cases.append(case(relay.argsort(x, 1, ascending), data.astype(dtype)))
    agree(cases, optimized=False)


def test_a_row_is_sorted_only_where_many_of_it_are_wanted() -> None:
    from relay_explorer.lower.compose import compose
    from relay_explorer.lower.targets.target import Target

    for dtype, few, many in (("float32", 512, 513), ("float64", sort.MAX_SELECTED, 2 * sort.MAX_SELECTED)):
        x = relay.var("x", shape=(2, 2048), dtype=dtype)
        texts = [
            str(compose(case(relay.topk(x, k, 1, "indices")).function, Target.of("cpu")).prim_func)
            for k in (few, many)
        ]
        assert ['(2, 2048), "int32"' in text for text in texts] == [False, True]
