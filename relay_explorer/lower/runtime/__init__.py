"""Runs compiled programs: kernels, their memory, and one `Executable` per executor.

Nothing here depends on how a program was built: `build` and `link` do that, and `saving` saves programs.
"""
