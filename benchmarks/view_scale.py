"""Time every view on programs of 500 to 50,000 calls: its time must grow linearly with the program.

python -m benchmarks.view_scale [--before TREE] [--only VIEW …] [--lengths N …]

TREE is a checkout of an earlier commit, measured on 10,000 calls. With --only or --lengths, the table is
printed and not written.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.fusion_view import chain, text

ROOT = Path(__file__).parents[1]
LENGTHS = (500, 2_000, 10_000, 50_000)
COMPARED = 10_000  # calls, of an earlier commit
LIMIT = 120  # seconds of processor time for one view
VIEWS = (
    "ir", "costs", "types", "evaluation", "sharing", "fusion", "pipeline", "gradient", "partial", "memory",
    "machine", "quantize", "compare", "source", "lowering", "run",
)  # fmt: skip
PASSES = "SimplifyInference, FoldScaleAxis, EliminateCommonSubexpr, FuseOps"


def options_of(kind: str, module: Any) -> dict[str, Any]:
    """Return what a view needs besides the program. Every element of its arguments is 0.1, because the time
    does not depend on values.
    """
    import numpy as np

    from relay_explorer import relay
    from relay_explorer.ir.narrow import as_tensor_type

    if kind in ("evaluation", "sharing", "machine", "run"):
        params = relay.transform.InferType()(module)["main"].params
        types = [as_tensor_type(param) for param in params]
        args = [np.full(type_.concrete_shape, 0.1, type_.dtype) for type_ in types]
        return {"args": args, **({"measure": True} if kind == "run" else {})}
    return {"passes": PASSES} if kind in ("pipeline", "compare") else {}


def program(kind: str, calls: int) -> Any:
    """Return a sequence of calls. For the view of imported nodes it is imported from ONNX."""
    from relay_explorer import relay

    if kind != "source":
        return relay.parse(text(chain(calls)))
    import onnx
    from onnx import TensorProto, helper

    kinds: tuple[tuple[str, list[str]], ...] = (
        ("Exp", []),
        ("Add", ["x"]),
        ("MatMul", ["w"]),
        ("Tanh", []),
        ("Softmax", []),
    )
    nodes = [
        helper.make_node(op, [f"v{k - 1}" if k else "x", *more], [f"v{k}"], name=f"n{k}")
        for k, (op, more) in ((k, kinds[k % len(kinds)]) for k in range(calls))
    ]
    tensor = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [8, 8]) for name in ("x", f"v{calls - 1}")
    ]
    weight = helper.make_tensor("w", TensorProto.FLOAT, [8, 8], [0.1] * 64)
    graph = helper.make_graph(nodes, "chain", tensor[:1], tensor[1:], [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    module, _ = relay.frontend.from_onnx(onnx.shape_inference.infer_shapes(model))
    return module


def view_of(kind: str, module: Any, title: str = "", options: dict[str, Any] | None = None) -> str:
    """Return the data of a view as JSON. A measured run is a form of the view `lowering`."""
    from relay_explorer import explore

    name = "lowering" if kind == "run" else kind
    given = options_of(kind, module) if options is None else options
    return str(explore(module, view=name, title=title, **given).to_json())


def seconds() -> float:
    """Return the processor time of this process and of those that it started, such as a compiler."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def limit() -> None:
    """End this process when it has used the processor for `LIMIT` seconds, which a busy machine does not
    shorten.
    """
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 5))


def one(kind: str, calls: int) -> dict[str, float]:
    """Return the processor time of building a view's data from the parsed program, and the data's size."""
    from relay_explorer import relay

    module = program(kind, calls)
    options = options_of(kind, module)
    view_of("fusion", relay.parse("def @main(%x: float32) { exp(%x) }"))  # imports
    start = seconds()
    data = view_of(kind, module, options=options)
    return {"seconds": seconds() - start, "bytes": float(len(data))}


def measured(tree: Path, kind: str, calls: int) -> dict[str, float] | str:
    """Measure the same in a separate process, on a checkout; return why where it cannot be measured."""
    # This file measures, also where the checkout has none of its name: only the package is the checkout's.
    environment = {**os.environ, "PYTHONPATH": f"{tree}{os.pathsep}{ROOT}"}
    command = [sys.executable, str(Path(__file__).resolve()), "--one", kind, str(calls)]
    done = subprocess.run(
        command, env=environment, cwd=tree, capture_output=True, text=True, preexec_fn=limit
    )
    if done.returncode == -signal.SIGXCPU:
        return f"> {LIMIT} s"
    if done.returncode:
        print(f"{kind}, {calls:,} calls:", done.stderr.strip().splitlines()[-1], file=sys.stderr)
        return "no such view" if "there is no view" in done.stderr else "failed"
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def cell(result: dict[str, float] | str) -> str:
    return result if isinstance(result, str) else f"{result['seconds']:.2f} s"


def row(kind: str, lengths: tuple[int, ...], before: Path | None) -> list[str]:
    """Measure one view; return its row of the table."""
    now = {calls: measured(ROOT, kind, calls) for calls in lengths}
    done = {calls: result for calls, result in now.items() if isinstance(result, dict)}
    growth, size = "–", "–"
    for short, long in itertools.pairwise(done):
        growth = f"× {done[long]['seconds'] / done[short]['seconds'] * short / long:.1f}"
        size = f"{done[long]['bytes'] / 1e6:.1f} MB"
    earlier = cell(measured(before.resolve(), kind, COMPARED)) if before else "–"
    return [kind, *(cell(now[calls]) for calls in lengths), growth, size, earlier]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, help="a checkout of an earlier commit")
    parser.add_argument("--only", nargs="+", choices=VIEWS, help="these views")
    parser.add_argument("--lengths", nargs="+", type=int, help="these numbers of calls")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.one[0], int(options.one[1]))))
        return
    from benchmarks.common import report, table

    load = os.getloadavg()[0]
    lengths = tuple(options.lengths or LENGTHS)
    rows = []
    for kind in options.only or VIEWS:
        rows.append(row(kind, lengths, options.before))
        print(*rows[-1], sep="  ", flush=True)
    headings = [
        "view", *(f"{calls:,}" for calls in lengths), "time per call, longest ÷ second longest",
        "JSON of the longest", f"{COMPARED:,} before",
    ]  # fmt: skip
    if options.only or options.lengths:
        print(table(headings, rows))
    else:
        report("view_scale.md", table(headings, rows), f"\nLoad average at the start: {load:.1f}.\n")


if __name__ == "__main__":
    main()
