"""Measured runs: the time of each kernel, the peak performance of the machine, and recorded measurements."""
