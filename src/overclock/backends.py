"""What can run an environment's rules. Names only: nothing here imports JAX."""

from typing import Literal

Kernel = Literal["c", "cuda"]  # one program made of the rules: C for the processor, CUDA for an NVIDIA GPU
Backend = Literal["xla", "c", "cuda"]
BatchBackend = Literal["auto", "xla", "c", "cuda"]  # of `vectorize`; "auto" is the fastest that works
HostBackend = Literal["auto", "xla", "c", "cuda", "native"]  # of `host_vector`; "native" is a Rust implementation
