"""Compare all passes of level 3 with TVM's Relax legalizing and fusing the same networks, time every pass
against program size, and measure the cost of recording each rewrite.

python -m benchmarks.passes        (needs torch and apache-tvm: pip install -r requirements-bench.txt)
"""

from __future__ import annotations

import gc
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial

from benchmarks.common import alternate, median, report, table
from relay_explorer import models, relay
from relay_explorer import transform as passes
from relay_explorer.ir import Expr, IRModule, Var
from relay_explorer.ir.recorder import Recorder
from relay_explorer.ir.rewrites import Rewrite
from relay_explorer.typing import infer_types

Run = Callable[[], object]
SIZES = (300, 1_000, 3_000, 10_000)
EACH: tuple[passes.Pass, ...] = (
    passes.AlterOpLayout(), passes.BackwardFoldScaleAxis(), passes.CanonicalizeCast(),
    passes.CanonicalizeOps(), passes.CombineParallelBatchMatmul(), passes.CombineParallelConv2D(),
    passes.CombineParallelDense(), passes.ConvertLayout({"nn.conv2d": ["NHWC", "default"]}),
    passes.DeadCodeElimination(), passes.DefuseOps(), passes.DynamicToStatic(),
    passes.EliminateCommonSubexpr(), passes.EtaExpand(), passes.FastMath(), passes.FirstOrderGradient(),
    passes.FoldConstant(), passes.FoldExplicitPadding(), passes.FoldScaleAxis(),
    passes.ForwardFoldScaleAxis(), passes.FuseOps(2), passes.InferType(), passes.Inline(),
    passes.LambdaLift(), passes.LazyGradientInit(), passes.Legalize(), passes.PartialEvaluate(),
    passes.RemoveUnusedFunctions(), passes.SimplifyExpr(), passes.SimplifyInference(), passes.SplitArgs(8),
    passes.ToANormalForm(), passes.ToBasicBlockNormalForm(), passes.ToGraphNormalForm(),
    passes.ToMixedPrecision(), passes.pipeline(),
)  # fmt: skip


def network(calls: int) -> IRModule:
    """Return a convolutional network of about `calls` operator calls: blocks of a convolution with its bias,
    a normalization, a ReLU and a residual connection.
    """
    data = relay.var("data", shape=(1, 8, 8, 8))
    params: list[Var] = [data]

    def param(name: str, *shape: int) -> Var:
        params.append(relay.var(name, shape=shape))
        return params[-1]

    x: Expr = data
    for index in range(calls // 5):
        y: Expr = relay.nn.conv2d(x, param(f"w{index}", 8, 8, 3, 3), padding=(1, 1), channels=8)
        y = relay.nn.bias_add(y, param(f"b{index}", 8))
        y = relay.multiply(y, relay.expand_dims(param(f"s{index}", 8), axis=1, num_newaxis=2))
        x = relay.add(relay.nn.relu(y), x)
    return IRModule.from_expr(relay.Function(params, x))


def best(run: Run, rounds: int = 3) -> float:
    """Return the processor seconds of the fastest of `rounds` runs, which exclude other programs."""
    times = []
    for _ in range(rounds):
        gc.collect()
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def against_relax() -> str:
    import torch
    import tvm
    from tvm import relax
    from tvm.relax.frontend.torch import from_exported_program

    from benchmarks.torch_resnet import ResNet50
    from benchmarks.torch_transformer import Encoder

    networks = {
        "resnet50": (ResNet50().eval(), torch.zeros(1, 3, 224, 224)),
        "transformer": (Encoder().eval(), torch.zeros(128, 768)),
    }
    steps = relax.transform
    legalize_and_fuse = tvm.transform.Sequential(
        [steps.LegalizeOps(), steps.AnnotateTIROpPattern(), steps.FuseOps(), steps.FuseTIR()]
    )
    rows = []
    for name, (net, data) in networks.items():
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = from_exported_program(torch.export.export(net, (data,)), keep_params_as_input=True)
        ours = models.load(name)
        times = alternate(
            {
                "Relax": partial(legalize_and_fuse, theirs),
                "O3": partial(passes.optimize, ours, level=3),
            },
            rounds=9,
        )
        relax_time, our_time = median(times["Relax"]), median(times["O3"])
        rows.append(
            (
                name,
                f"{relax_time * 1e3:.0f} ms",
                f"{our_time * 1e3:.0f} ms",
                f"{relax_time / our_time:.1f}×",
                f"{min(times['Relax']) * 1e3:.0f} ms",
                f"{min(times['O3']) * 1e3:.0f} ms",
            )
        )
    headings = ["network", "Relax, median of 9", "O3, median of 9", "speedup", "Relax, best", "O3, best"]
    return table(headings, rows)


def against_size() -> str:
    modules = {calls: infer_types(network(calls)) for calls in SIZES}
    rows = []
    for step in EACH:
        print(step.info.name, file=sys.stderr, flush=True)
        with passes.PassContext(opt_level=4):
            each = [best(partial(step, module)) / calls * 1e6 for calls, module in modules.items()]
            middle = modules[SIZES[-2]]
            recording = best(partial(observed, step, middle)) / SIZES[-2] * 1e6
        rows.append(
            (
                step.info.name,
                *(f"{cost:.1f}" for cost in each),
                f"{each[-1] / each[0]:.2f}",
                f"{recording / each[-2]:.2f}",
            )
        )
    headings = [
        "pass", *(f"{calls:,} calls" for calls in SIZES), "last / first",
        f"recording / not, {SIZES[-2]:,} calls",
    ]  # fmt: skip
    return "Microseconds per call in the program, processor time, best of 3:\n\n" + table(headings, rows)


def observed(step: passes.Pass, module: IRModule) -> None:
    """Run the pass, recording every rewrite."""
    with Recorder(Rewrite):
        step(module)


def main() -> None:
    report("passes.md", f"{against_relax()}\n\n{against_size()}")


if __name__ == "__main__":
    main()
