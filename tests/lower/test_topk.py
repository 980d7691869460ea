"""The first few of long rows, which are found without sorting: NaN is the greatest, of equals the first is
taken, rows that are in order and in the opposite order are no exception.
"""

from __future__ import annotations

import numpy as np

from relay_explorer import relay
from relay_explorer.lower.computes import sort
from tests.lower.kernels import agree, case


def test_the_first_few_of_long_rows() -> None:
    rng = np.random.default_rng(0)
    ties = rng.integers(-3, 3, (3, 40)).astype("float32")
    ties[1, [4, 9, 30]] = np.nan, np.inf, np.nan
    ties[2] = -np.inf
    steps = np.stack([np.arange(33), -np.arange(33)]).astype("int32")
    cases = []
    for data in (ties, ties.astype("float16"), steps, ties > 0):
        x = relay.var("x", shape=data.shape, dtype=str(data.dtype))
        turned = relay.var("x", shape=data.T.shape, dtype=str(data.dtype))
        for k in (1, 2, 8):
            assert data.shape[1] >= sort.FEW_OF * k
            for ascending in (False, True):
                cases.append(case(relay.topk(x, k, 1, "both", ascending), data))
                cases.append(case(relay.topk(turned, k, 0, "both", ascending), data.T.copy()))
    agree(cases)


def test_a_row_is_sorted_only_where_many_of_it_are_wanted() -> None:
    from relay_explorer.lower.compose import compose
    from relay_explorer.lower.target import Target

    x = relay.var("x", shape=(2, 2048), dtype="float32")
    sizes = {
        k: str(compose(case(relay.topk(x, k, 1, "indices")).function, Target.of("cpu")).prim_func)
        for k in (sort.FEW, 2 * sort.FEW)
    }
    assert f"(2, {sort.FEW})" in sizes[sort.FEW]
    assert '(2, 2048), "int32"' not in sizes[sort.FEW]
    assert '(2, 2048), "int32"' in sizes[2 * sort.FEW]
