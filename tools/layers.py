"""The layers of `relay_explorer`, from top to bottom: a folder imports only from folders above it.

`tests/machinery/test_layers.py` checks the package, and the subfolders of `lower/`, against these lists, and
`figures/layers.py` draws the first.
"""

from __future__ import annotations

from typing import NamedTuple


class Layer(NamedTuple):
    """A folder or module of the package, its contents, and its band in the drawing."""

    name: str
    holds: str
    band: str


LAYERS = (
    Layer("_project", "name, version, public address", ""),
    Layer("ir", "expressions, types, modules, recorder", "The language"),
    Layer("ops", "one declaration for each operator", "The language"),
    Layer("text", "parser and printer", "The language"),
    Layer("typing", "type inference", "The language"),
    Layer("prelude", "lists, trees and options, in Relay", "The language"),
    Layer("analysis", "dominators, liveness, cost", "The compiler"),
    Layer("dataflow_pattern", "patterns that match and rewrite", "The compiler"),
    Layer("transform", "one pass for each file or folder", "The compiler"),
    Layer("quantize", "annotate, calibrate, realize", "The compiler"),
    Layer("execute", "interpreter, graph, VM, ahead of time", "The compiler"),
    Layer("lower", "Relay to TVM: codegen, schedules, cache", "The compiler"),
    Layer("frontends", "importers of models", "The compiler"),
    Layer("relax", "TVM's present graph language", "The compiler"),
    Layer("_missing", "errors for names that do not exist", "What people use"),
    Layer("relay", "the façade that `tvm.relay` was", "What people use"),
    Layer("models", "the programs that the book uses", "What people use"),
    Layer("testing", "random programs, shrinking, equality", "What people use"),
    Layer("views", "what an explorer shows, as plain data", "What people use"),
    Layer("widgets", "pages and notebook widgets", "What people use"),
    Layer("interop", "networkx, Graphviz, matplotlib", "What people use"),
    Layer("explorer", "`explore`", "What people use"),
    Layer("playground", "the reader's program, in the page", "What people use"),
    Layer("grading", "checks of the exercises", "What people use"),
    Layer("compat", "the rest of the interface of `tvm`", "What people use"),
    Layer("cli", "the command `relay-explorer`", "What people use"),
)

# The subfolders and modules of `lower/`, in the order of its pipeline.
ROOMS = (
    "tvm_types",  # type declarations for the parts of TVM that are used
    "threads",  # the number of processors
    "require",  # TVM, imported in versions that are known to work
    "targets",  # processors, GPUs and boards; toolchains
    "passes",  # program transformations that only compiled code needs
    "lowering",  # an operator's lowering
    "prepare",  # a module, optimized for a target
    "cache",  # compiled kernels on disk
    "compose",  # the tensor expressions of a primitive function
    "schedules",  # how the loops of a kernel are tiled, vectorized and run in parallel
    "codegen",  # compiles a primitive function to a library
    "runtime",  # kernels, their memory, and executables
    "kernels",  # the kernels of a program, compiled or cached
    "profiling",  # timed runs and recorded measurements
    "saving",  # the file formats of executables
    "link",  # combines kernels and a program into an executable
    "build",  # the pipeline: prepare, lower, link
    "evaluate",  # evaluates expressions with built programs
    "executor",  # `relay.create_executor`
    "inspect",  # traces, operation counts and a cost model of compiled kernels
)
