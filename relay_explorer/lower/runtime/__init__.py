"""Runs compiled programs: kernels, their memory, and one `Executable` per executor.

Nothing here knows how a program was built: building is above, and saving is in `saving`.
"""
