"""The exercise `combine_dense`: dense layers with the same input become one."""
