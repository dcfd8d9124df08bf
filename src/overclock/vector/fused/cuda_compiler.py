"""Kernels for NVIDIA GPUs: CUDA C, compiled by NVRTC (JAX's CUDA packages bring it) or nvcc; one lane per thread."""

import ctypes
import functools
import hashlib
import importlib.util
import shutil
from pathlib import Path

import jax
from jax.extend.core import ClosedJaxpr

from overclock.c_compiler import CompileError
from overclock.errors import MissingError
from overclock.files import kept
from overclock.vector.fused.clamp_fold import folds_a_test_into_a_clamp
from overclock.vector.fused.compiled_files import HERE, compiled, kernels_folder, run
from overclock.vector.fused.kernel_text import Signature, source

THREADS = 64  # of a block: 65,536 lanes are about eight blocks on each of an H200's 132 processors
# A product and a sum are two roundings, as on the processor; division and root are exact to the last bit.
OPTIONS = ("--fmad=false", "--std=c++17", "--prec-div=true", "--prec-sqrt=true", "--ftz=false")


def cuda_library(program: ClosedJaxpr, signature: Signature) -> Path:
    """The compiled kernel with the code that launches it."""
    sizes = f"#define INPUTS {signature.inputs}\n#define OUTPUTS {signature.outputs}\n#define THREADS {THREADS}\n"
    buffers = "struct Buffers { void* in[INPUTS + 1]; void* out[OUTPUTS + 1]; };\n"
    text, _ = source(program, signature, "cuda", 1)
    module = cubin(sizes + buffers + text, architecture())
    host = [
        '#include "xla/ffi/api/c_api.h"', sizes, "#define HANDLER_TRAITS 0", f'#define MODULE_PATH "{module}"',
        (HERE / "cuda.c").read_text(), (HERE / "handler.c").read_text(),
    ]  # fmt: skip
    return compiled("\n".join(host), jax.ffi.include_dir(), libraries=("-ldl",))


def needed_cuda_compiler() -> None:
    """Refuse a machine without a GPU or without anything that compiles for it."""
    architecture()
    if nvrtc_path() is None and nvcc() is None:
        raise MissingError(
            "backend='cuda' needs NVRTC (`pip install 'overclock[cuda]'` brings it) or nvcc on the PATH; "
            "or use backend='xla'."
        )


def architecture() -> str:
    """The GPU's kind as compilers name it, sm_90 for example."""
    try:
        device = jax.devices("gpu")[0]
    except RuntimeError as error:
        raise MissingError(
            "backend='cuda' needs an NVIDIA GPU that JAX finds (`pip install 'overclock[cuda]'`)."
        ) from error
    return "sm_" + str(getattr(device, "compute_capability", "9.0")).replace(".", "")


def cubin(text: str, kind: str) -> Path:
    """A file of machine code for the GPU, compiled unless it is there."""
    key = hashlib.sha256("\n".join([text, kind, *OPTIONS, *_compiler()]).encode()).hexdigest()[:32]

    def make(result: Path) -> None:
        code = _machine_code(text, kind, OPTIONS, result.parent)
        if folds_a_test_into_a_clamp(code):
            code = _machine_code(text, kind, (*OPTIONS, "--ptxas-options=-O0"), result.parent)
            if folds_a_test_into_a_clamp(code):
                raise CompileError("CUDA's assembler makes wrong code of a clamp in these rules; use backend='xla'.")
        result.write_bytes(code)

    return kept(kernels_folder(), key, ".cubin", make)


def _compiler() -> list[str]:
    """What compiles, down to its version: another one may make other code."""
    path = nvrtc_path()
    if path is None:
        return [str(nvcc())]
    major, minor = ctypes.c_int(), ctypes.c_int()
    _checked(ctypes.CDLL(str(path)).nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    return [str(path), str(path.stat().st_mtime_ns), f"{major.value}.{minor.value}"]


def _machine_code(text: str, kind: str, options: tuple[str, ...], folder: Path) -> bytes:
    if nvrtc_path() is not None:
        return by_nvrtc(text, kind, options)
    needed_cuda_compiler()
    written, result = folder / "kernel.cu", folder / "compiled.cubin"
    written.write_text(text)
    run([str(nvcc()), "-O3", "-cubin", f"-arch={kind}", *options, "-w", str(written)], written, result)
    return result.read_bytes()


def nvcc() -> str | None:
    """NVIDIA's compiler, where it is installed."""
    return shutil.which("nvcc") or next((str(p) for p in (Path("/usr/local/cuda/bin/nvcc"),) if p.exists()), None)


@functools.cache
def nvrtc_path() -> Path | None:
    """NVIDIA's run-time compiler: of Python's CUDA packages, or of a CUDA installation."""
    spec = importlib.util.find_spec("nvidia")
    folders = [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
    for folder in [*folders, Path("/usr/local/cuda/lib64"), Path("/usr/local/cuda/targets/x86_64-linux/lib")]:
        found = sorted(folder.rglob("libnvrtc.so.*")) if folder.exists() else []
        if found:
            return found[0]
    return None


def by_nvrtc(text: str, kind: str, options: tuple[str, ...] = OPTIONS) -> bytes:
    """Machine code of a CUDA text."""
    library = ctypes.CDLL(str(nvrtc_path()))
    program = ctypes.c_void_p()
    _checked(library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None))
    given = [option.encode() for option in (f"--gpu-architecture={kind}", *options)]
    failed = library.nvrtcCompileProgram(program, len(given), (ctypes.c_char_p * len(given))(*given))
    if failed:
        size = ctypes.c_size_t()
        library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        library.nvrtcGetProgramLog(program, log)
        lines = log.value.decode(errors="replace").splitlines()
        first = next((line for line in lines if "error" in line), "no reason given")
        raise CompileError(f"NVRTC refused a kernel: {first.strip()}")
    size = ctypes.c_size_t()
    _checked(library.nvrtcGetCUBINSize(program, ctypes.byref(size)))
    code = ctypes.create_string_buffer(size.value)
    _checked(library.nvrtcGetCUBIN(program, code))
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return code.raw


def _checked(result: int) -> None:
    if result:
        raise CompileError(f"NVRTC fails with error {result}.")
