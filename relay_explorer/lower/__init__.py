"""The back end: lowers optimized Relay to machine code, which TVM generates.

`build` is the pipeline: prepare the program for the target, lower its operators to kernels, link kernels and
program into an executable. Each subpackage imports only those listed above it:

    targets/    processors, GPUs and boards; toolchains
    passes/     program transformations that only compiled code needs
    cache/      compiled kernels on disk
    schedules/  how the loops of a kernel are tiled, vectorized and run in parallel
    codegen/    compilation of a primitive function to a library
    runtime/    kernels, their memory, and executables
    profiling/  timed runs and recorded measurements
    saving/     the file formats of executables
    link/       linking of kernels and a program into an executable
    inspect/    traces, operation counts and a cost model of compiled kernels

`tools/layers.py` lists these and the modules beside them in the same order, which a test enforces.
"""

from __future__ import annotations
