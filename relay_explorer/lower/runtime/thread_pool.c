/* The thread pool of programs that are compiled ahead of time, as a library for the kernels of other executors. */

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "parallel.c"

int relay_explorer_parallel(Body body, void *data, int tasks) { return parallel(body, data, tasks); }
