"""The virtual machine: its bytecode, a compiler from Relay to bytecode, and the machine that runs it."""

from __future__ import annotations

from .bytecode import KernelCode, VMFunction, VMProgram
from .compiler import compile_module
from .machine import Machine, VMClosure
from .prepare import compile_program
from .text import parse_program, program_text

__all__ = [
    "KernelCode", "Machine", "VMClosure", "VMFunction", "VMProgram", "compile_module",
    "compile_program", "parse_program", "program_text",
]  # fmt: skip
