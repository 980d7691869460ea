"""Saved executables: one file format per kind of program, found by what a file says of itself."""
