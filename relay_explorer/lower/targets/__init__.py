"""The targets of compilation: processors and GPUs with their features, and the toolchain of each."""
