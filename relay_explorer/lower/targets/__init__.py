"""What code is compiled for: processors and GPUs with their features, and the toolchain of each."""
