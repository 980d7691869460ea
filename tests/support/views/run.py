"""Is this a view of a measured run? What `check` asks of one, beyond its schema."""

from __future__ import annotations

from tests.support.views.check import HUES, SHAPES, Checker, Json


def check_run(c: Checker, view: dict[str, Json]) -> None:
    """Tells `c` what is wrong with the fields of the view of a run."""
    machine = view["machine"]
    c.need(
        list(machine) == ["name", "target", "threads", "flops", "bandwidth"], "machine", "has other fields"
    )
    for name in ("threads", "flops", "bandwidth"):
        c.need(machine[name] > 0, f"machine: {name}", "must be positive")
    for number, (_name, shape, hue) in enumerate(view["rules"]):
        c.need(shape in SHAPES and hue in HUES, f"rule {number}", "is drawn in no known way")
    kernels = len(view["kernels"])
    c.need(kernels, "kernels", "there are none")
    for number, kernel in enumerate(view["kernels"]):
        _check_kernel(c, f"kernel {number}", kernel, len(view["rules"]))
    times = [kernel[5] for kernel in view["kernels"]]
    c.need(times == sorted(times, reverse=True), "kernels", "are not sorted by their time")
    end = 0
    for number, (_kernel, start, ns) in enumerate(view["launches"]):
        c.need(start >= end and ns > 0, f"launch {number}", "begins before the one before it ends")
        end = start + ns
    for number, kernel in enumerate(view["kernels"]):
        mine = [ns for k, _, ns in view["launches"] if k == number]
        c.need((sum(mine), len(mine)) == (kernel[5], kernel[6]), f"kernel {number}", "is not its launches")
    from tests.support.views.check import check

    for number, levels in view["levels"]:
        c.need(levels.get("view") == "lowering", f"levels of kernel {number}", "are not a lowering view")
        c.problems += [f"levels of kernel {number}: {problem}" for problem in check(levels)]


def _check_kernel(c: Checker, where: str, kernel: Json, rules: int) -> None:
    if len(kernel) != 11:
        c.need(False, where, "must have eleven parts")
        return
    _row, _name, _rule, *_amounts, by_arithmetic, _say, _why = kernel
    c.need(by_arithmetic in (0, 1), where, "is limited by something else")
