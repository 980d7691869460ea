/* ---- kernels */

static _Thread_local char raised[800]; /* the message of the last kernel that failed */

__attribute__((visibility("hidden"))) void TVMFFIErrorSetRaisedFromCStrParts(
    const char *kind, const char **text, int32_t count) {
  size_t length = (size_t)snprintf(raised, sizeof raised, "%s: ", kind);
  for (int32_t k = 0; k < count && length < sizeof raised; k++)
    if (text[k]) length += (size_t)snprintf(raised + length, sizeof raised - length, "%s", text[k]);
}

static void *workspace(int32_t kind, int32_t number, uint64_t bytes, int32_t code, int32_t bits) {
  (void)kind, (void)number, (void)code, (void)bits;
  return aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + ALIGNMENT);
}

static int free_workspace(int32_t kind, int32_t number, void *memory) {
  (void)kind, (void)number;
  free(memory);
  return 0;
}

/* TVM's kernels call these functions through pointers with these names. */
#define FOR_KERNELS __attribute__((visibility("hidden"))) void *
FOR_KERNELS __TVMBackendParallelLaunch = (void *)parallel;
FOR_KERNELS __TVMBackendAllocWorkspace = (void *)workspace;
FOR_KERNELS __TVMBackendFreeWorkspace = (void *)free_workspace;

#define ARGUMENT(object) ((Argument){7, 0, TENSOR_OF(object)})
