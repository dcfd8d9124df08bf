"""Policy networks: MLP and GRU, their matrix products and GPU kernels, sizes, and how much arithmetic they are."""
