"""Links programs compiled ahead of time: C from bytecode, with kernels. They need no Python to run."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...execute.aot import NativeSource, native_source
from ...execute.graph import Input
from ...execute.vm import VMProgram, compile_module
from ...ir.errors import RelayError
from ...ir.expr import Function
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.walk import post_order
from ..cache.store import digest
from ..lowering import lowering_of
from ..profiling.timed import TimedNative, timed
from ..runtime.executable import Executable
from ..runtime.kernel import Kernel
from ..runtime.native_library import NativeLibrary
from ..saving.files import path_of, replaced
from ..saving.native import described
from ..targets.target import Target
from ..targets.toolchain import Toolchain, called, toolchain

FLAGS = ("-std=gnu11", "-O2", "-fPIC", "-w")
LINKED = ("-Wl,-z,noexecstack", "-Wl,--strip-debug")  # the kernels' debug information refers to no source
LIBRARIES = ("-lm", "-lpthread")
CLOCKED = "-DCLOCKED"


class UnlinkedNative:
    """A program as bytecode, to be translated to C. The names of the C interface begin with `name`.

    Raises a RelayError if a part of the program can run only in Python: a user-defined operator that has only
    a NumPy reference implementation.
    """

    def __init__(self, module: IRModule, target: Target, name: str) -> None:
        self._module, self._target, self._name = module, target, name
        self._program = compile_module(module)
        self._compiled = [n for n, code in enumerate(self._program.kernels) if not code.host]
        self.functions = [self._program.kernels[number].function for number in self._compiled]
        _check_host(self.functions)

    def link(self, kernels: Sequence[Kernel]) -> NativeExecutable:
        """Translate the bytecode to C that calls the kernels. The C compiler runs at the first use."""
        by_number = dict(zip(self._compiled, kernels))
        table = [by_number.get(number) for number in range(len(self._program.kernels))]
        types = [param.checked_type for param in self._module["main"].params]
        sizes = [kernel.sizes if kernel is not None else None for kernel in table]
        source = native_source(self._program, sizes, self._name, types)
        tools = toolchain(self._target)
        return NativeExecutable(source, table, self._program, self._target, self._module, tools)


def _check_host(functions: Sequence[Function]) -> None:
    """Check that no kernel runs in Python."""
    for function in functions:
        for node in post_order(function.body):
            if isinstance(node, Op) and lowering_of(node) is None:
                raise RelayError(
                    f"the program cannot be compiled ahead of time: `{node.name}` is computed in Python",
                    function.span,
                    help=[
                        "write it as a tensor expression: "
                        f'relay.op.get("{node.name}").set_attr("FTVMCompute", '
                        "lambda call: [tvm.te.compute(…)])",
                        "or run it in the virtual machine",
                    ],
                )


class NativeExecutable(Executable):
    """A program compiled ahead of time.

        exe(x, y)           runs it here, as Executable does; also takes and returns values of data types
        exe.save("libx.so") writes the library; `exe.header` is its C header
        exe.link("x", [main.c])  builds a stand-alone program, with C code that uses the header

    `code` is the C of the program, `program` the bytecode that it was made from, `kernels` its kernels.
    """

    program: VMProgram
    mod: IRModule

    def __init__(
        self,
        native: NativeSource,
        kernels: Sequence[Kernel | None],
        program: VMProgram,
        target: Target,
        mod: IRModule,
        tools: Toolchain,
    ) -> None:
        super().__init__(list(dict.fromkeys(k for k in kernels if k is not None)), target, mod)
        self.native, self.kernel_of, self.program, self.tools = native, list(kernels), program, tools
        self._library: NativeLibrary | None = None
        self._clocked: NativeLibrary | None = None

    @property
    def inputs(self) -> list[Input]:
        """The parameters of `@main`: their names, and their types as text."""
        main = self.program.functions["main"]
        return [Input(name, None, type_) for name, type_ in zip(main.params, main.types)]

    @property
    def name(self) -> str:
        return self.native.prefix

    @property
    def code(self) -> str:
        """The program in C."""
        return self.native.code

    @property
    def header(self) -> str:
        """The header that C code includes to call the program."""
        return self.native.header

    def write(self, folder: object) -> list[Path]:
        """Write the input of a C compiler into a folder: the program, its header, its constants, and its
        kernels as object files. Return the files. `cc program.c *.o -lm -lpthread` together with C code of
        your own builds an executable; with -DCLOCKED it times its kernels.
        """
        place = path_of(folder)
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise RelayError(
                f"there is no folder {str(place)!r:.200} to write to: {problem.strerror}"
            ) from None
        native = self.native
        files = [place / f"{native.prefix}{ending}" for ending in (".c", ".h", ".bin")]
        files[0].write_text(native.code, "utf-8")
        files[1].write_text(native.header, "utf-8")
        files[2].write_bytes(native.constants)
        for kernel, symbol in zip(self.kernel_of, native.kernels):
            if kernel is None:
                continue
            object_file = place / f"{symbol}.o"
            name = kernel.entry.get("name", kernel.symbol)
            # Kernels may share a name, so each gets a unique symbol. Weak functions are the same in all.
            called(
                [
                    self.tools.objcopy, "--redefine-sym", f"__tvm_ffi_{name}={symbol}",
                    _object(kernel, object_file), object_file,
                ],
                "name a kernel's function",
            )  # fmt: skip
            files.append(object_file)
        return files

    def save(self, path: object) -> None:
        """Save the program as a shared library that exports the functions of the header. `load` loads it into
        Python again, with or without TVM.
        """
        with replaced(path) as output:
            self._link_library(output)
            with output.open("ab") as library:
                library.write(described(self.native, self.program, self.target, output.read_bytes()))

    def _link_library(self, output: Path, flags: Sequence[str] = ()) -> None:
        with tempfile.TemporaryDirectory() as place:
            listing = Path(place) / "shown"
            listing.write_text(f"{{ global: {self.name}_*; local: *; }};")
            self._compile(output, place, ["-shared", f"-Wl,--version-script={listing}", *flags])

    def link(
        self, path: object, sources: Sequence[object], *, static: bool = False, clocked: bool = False
    ) -> None:
        """Build an executable from C files that use the header `{name}.h`. With `static`, it depends on no
        other file; with `clocked`, it records how long each call of a kernel takes (see the header).
        """
        flags = ["-static"] * static + [CLOCKED] * clocked
        with replaced(path) as output, tempfile.TemporaryDirectory() as place:
            self._compile(output, place, flags, [str(source) for source in sources])

    def _compile(self, output: Path, place: str, flags: Sequence[str], sources: Sequence[str] = ()) -> None:
        """Compile the program in the folder `place`, and link it with its kernels."""
        command: list[str | Path] = [
            self.tools.compiler, *self.tools.flags, *FLAGS, *flags, *LINKED, "-I", place,
            f"-Wa,-I,{place}", "-o", output, *sources, *_linked(self.write(place)), *LIBRARIES,
        ]  # fmt: skip
        called(command, "link the program")

    @property
    def library(self) -> NativeLibrary:
        """The program loaded into this process; it is linked at the first use."""
        if self._library is None:
            self._library = self._loaded()
        return self._library

    @property
    def clocked(self) -> NativeLibrary:
        """The same library, but it reads the clock before and after each kernel."""
        if self._clocked is None:
            self._clocked = self._loaded([CLOCKED])
        return self._clocked

    def _loaded(self, flags: Sequence[str] = ()) -> NativeLibrary:
        if not self.target.runs_here:
            raise RelayError(
                f"the program is compiled for {self.target}, which this machine cannot run",
                help=["save it, or link it with C code, and run it there, or under qemu"],
            )
        main = self.mod["main"]
        assert isinstance(main, Function)
        with tempfile.TemporaryDirectory(prefix="relay_explorer_") as folder:
            path = Path(folder) / f"lib{self.name}.so"
            self._link_library(path, flags)
            return NativeLibrary(str(path), self.native, main, self.mod)

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        """Run the program. Arguments are passed in the order of the parameters or by name: NumPy arrays,
        numbers, and for data types and functions the values that the interpreter takes. Tensors are returned
        as NumPy arrays, functions as callables, which keep memory of the program alive as long as they live.
        """
        return self.library(*args, **named)

    def time(self, *args: Any, repeat: int = 10, **named: Any) -> float:
        """Return the seconds of the fastest of `repeat` runs; the arguments are converted once, before the
        first.
        """
        return self.library.time(args, named, repeat)

    def __repr__(self) -> str:
        takes = ", ".join(f"%{name}" for name in self.native.arguments[:4])
        more = ", …" if len(self.native.arguments) > 4 else ""
        return (
            f"<program `{self.name}` in C for {self.target}: ({takes}{more}); "
            f"{len(self.program.functions)} functions, {len(self.kernels)} kernels, "
            f"{len(self.native.constants) / 1e3:.1f} KB of constants, built in {self.seconds:.1f} s>"
        )


def _linked(files: Sequence[Path]) -> list[Path]:
    return [file for file in files if file.suffix in (".c", ".o")]


def _object(kernel: Kernel, place: Path) -> Path:
    """Return the object file of a kernel. If the kernel was compiled in this process, write the file to
    `place` first.
    """
    path, entry = kernel.library, kernel.entry
    if path is None:
        kernel.write_object(place)
        return place
    if path.suffix == ".o":
        return path
    object_file = path.parent / str(entry.get("object"))
    if (
        "object" in entry
        and object_file.is_file()
        and digest(object_file.read_bytes()) == entry["object_sha256"]
    ):
        return object_file
    raise RelayError(
        f"the kernel `{kernel.name}` has no object file to link",
        help=["a C compiler was missing when it was compiled"],
    )


@timed.register(NativeExecutable)
def _timed(exe: NativeExecutable, args: Sequence[Any], named: dict[str, Any] | None = None) -> TimedNative:
    return TimedNative(exe, args, named or {})
