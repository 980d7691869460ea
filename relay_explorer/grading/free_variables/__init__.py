"""The exercise `free_variables`: compute the free variables of an expression."""
