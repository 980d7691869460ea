"""Compiled kernels on disk: `store` reads and writes entries, `pruning` bounds their size."""
