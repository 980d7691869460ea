"""Static inspection of compiled kernels: traces of their assembly, operation counts, and a cost model."""
