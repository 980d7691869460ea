"""The parameters and targets of tests in `tvm.testing`, implemented with pytest.

    kind = tvm.testing.parameter("graph", "vm")              # a test that takes `kind` runs once for each
    n, m = tvm.testing.parameters((1, 2), (3, 4), ids=…)     # n and m vary together
    @tvm.testing.parametrize_targets("llvm", "cuda")         # a test that takes `target`, and may take `dev`

Parameters are fixtures; the plugin's `pytest_generate_tests` assigns values to those that vary together.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

GROUP = "_tvm_parameter_group"
EXCLUDED, FAILING, MARKED = "tvm_exclude_targets", "tvm_known_failing_targets", "tvm_parameterizations"

_groups = itertools.count()


def parameter(
    *values: Any, ids: Iterable[str] | None = None, by_dict: Mapping[str, Any] | None = None
) -> Any:
    """Create a fixture, to be assigned in a test module or class: a test that takes it by name runs once per
    value. `by_dict` maps names to values.
    """
    import pytest

    if by_dict is not None:
        if values or ids:
            raise TypeError("parameter takes values, or by_dict, not both")
        ids, values = list(by_dict), tuple(by_dict.values())

    # In a class, pytest also passes the instance.
    @pytest.fixture(params=values, ids=None if ids is None else list(ids))
    def value(*owner: Any, request: Any) -> Any:
        return request.param

    return value


def parameters(*value_sets: Iterable[Any], ids: Iterable[str] | None = None) -> list[Any]:
    """Create fixtures that vary together, one for each value of a set in `value_sets`. A test that takes any
    of them runs once for each set.
    """
    import pytest

    rows = [tuple(row) for row in value_sets]
    if len({len(row) for row in rows}) > 1:
        raise ValueError("the sets of values have different lengths")
    group = next(_groups)
    names = None if ids is None else [str(name) for name in ids]
    fixtures = []
    for column in zip(*rows):

        def value(*owner: Any, request: Any) -> Any:
            return request.param

        setattr(value, GROUP, (group, column, names))
        fixtures.append(pytest.fixture(value))
    return fixtures


def fixture(func: Callable[..., Any] | None = None, *, cache_return_value: bool = False) -> Any:
    """Create a fixture like `pytest.fixture`. If its value is cached, it is computed once for each set of
    parameters, and every test receives a copy.
    """
    import pytest

    if func is None:
        return lambda function: fixture(function, cache_return_value=cache_return_value)
    return pytest.fixture(_cached(func) if cache_return_value else func)


def _cached(func: Callable[..., Any]) -> Callable[..., Any]:
    import functools

    results: dict[Any, Any] = {}

    @functools.wraps(func)
    def once(*args: Any, **kwargs: Any) -> Any:
        key = repr(
            (args[1:] if args and hasattr(type(args[0]), func.__name__) else args, sorted(kwargs.items()))
        )
        if key not in results:
            results[key] = func(*args, **kwargs)
        return copy.deepcopy(results[key])

    return once


def parametrize_targets(*targets: Any) -> Any:
    """Decorate a test that takes `target`: it runs on those of `targets` that are enabled, or on all enabled
    ones where none are named. The others are shown as skipped.
    """
    import pytest

    if len(targets) == 1 and callable(targets[0]):
        return parametrize_targets()(targets[0])
    return pytest.mark.parametrize("target", _as_parameters(targets)) if targets else lambda test: test


def exclude_targets(*targets: str) -> Any:
    """Decorate a test that does not run on these targets, or kinds of targets."""
    import pytest

    return getattr(pytest.mark, EXCLUDED)(*targets)


def known_failing_targets(*targets: str) -> Any:
    """Decorate a test that may fail on these targets, or kinds of targets."""
    import pytest

    return getattr(pytest.mark, FAILING)(*targets)


def skip_parameterizations(*ids: str, reason: str = "") -> Any:
    """Decorate a test that is skipped with the parameters to which pytest gives these ids."""
    import pytest

    return getattr(pytest.mark, MARKED)("skip", ids, reason)


def xfail_parameterizations(*ids: str, reason: str = "") -> Any:
    """Decorate a test that may fail with the parameters to which pytest gives these ids."""
    import pytest

    return getattr(pytest.mark, MARKED)("xfail", ids, reason)


def _names(mark: Any) -> set[str]:
    return {str(target) for target in mark.args}


def _as_parameters(
    targets: Iterable[Any], excluded: Iterable[str] = (), failing: Iterable[str] = ()
) -> list[Any]:
    """Turn targets into parameter values: skip those that are not enabled or are excluded, and mark those
    that may fail.
    """
    import pytest

    from .testing import device_enabled

    params = []
    for target in targets:
        name, kind = str(target), str(target).split()[0]
        marks: list[Any] = []
        if not device_enabled(target):
            marks = [pytest.mark.skip(reason=f"{kind} is not available: old tests run on the CPU")]
        elif {name, kind} & set(excluded):
            marks = [pytest.mark.skip(reason=f"not for {kind}")]
        elif {name, kind} & set(failing):
            marks = [pytest.mark.xfail(reason=f"known to fail on {kind}")]
        params.append(pytest.param(target, marks=marks, id=name))
    return params


def generate(metafunc: Any) -> None:
    """Generate a test's parameters; pytest calls this through the plugin."""
    _generate_targets(metafunc)
    groups: dict[int, list[tuple[str, tuple[Any, ...], list[str] | None]]] = {}
    for name in metafunc.fixturenames:
        for definition in (metafunc._arg2fixturedefs.get(name) or ())[-1:]:
            group = getattr(definition.func, GROUP, None)
            if group is not None:
                groups.setdefault(group[0], []).append((name, *group[1:]))
    for columns in groups.values():
        names = [name for name, _, _ in columns]
        rows = list(zip(*[values for _, values, _ in columns]))
        ids = columns[0][2]
        if len(names) == 1:
            metafunc.parametrize(names[0], [row[0] for row in rows], indirect=True, ids=ids)
        else:
            metafunc.parametrize(names, rows, indirect=True, ids=ids)


def _generate_targets(metafunc: Any) -> None:
    """Generate the targets of a test that takes a target without naming any."""
    from .testing import enabled_targets

    marks = list(metafunc.definition.iter_markers())
    parametrized = any(
        mark.name == "parametrize" and "target" in str(mark.args[0] if mark.args else "") for mark in marks
    )
    own = getattr(metafunc.module, "target", None) or getattr(metafunc.cls, "target", None)
    if "target" not in metafunc.fixturenames or parametrized or own is not None:
        return
    excluded = {name for mark in marks if mark.name == EXCLUDED for name in _names(mark)}
    failing = {name for mark in marks if mark.name == FAILING for name in _names(mark)}
    targets = [target for target, _ in enabled_targets()]
    metafunc.parametrize("target", _as_parameters(targets, excluded, failing))


def mark_parameterizations(items: Iterable[Any]) -> None:
    """Mark the tests that `skip_parameterizations` and `xfail_parameterizations` name."""
    import pytest

    for item in items:
        for mark in item.iter_markers(MARKED):
            kind, ids, reason = mark.args
            if getattr(item, "callspec", None) is not None and item.callspec.id in ids:
                item.add_marker(getattr(pytest.mark, kind)(reason=reason))
