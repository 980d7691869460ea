"""From kernels and a program to an executable: for the graph executor, the virtual machine, and as C."""
