// The functions of the emulated GPU (gpu.cpp) that kernels call.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

struct rx_dim {
  unsigned x, y, z;
};

struct rx_facts {  // a kernel's launch bound, shared memory in bytes, and parameters
  unsigned threads, shared, parameters;
  const char *const *names;
};

extern "C" {
#ifdef RX_GPU
extern rx_dim threadIdx, blockIdx, blockDim, gridDim;
#else
extern const rx_dim threadIdx, blockIdx, blockDim, gridDim;  // reading a constant is not recorded as an access
#endif
void rx_barrier(int line);                      // waits for all threads of the block
void rx_warp(std::uint32_t mask, int line);     // waits for the threads of the warp that are in the mask
std::uint32_t rx_active();                      // the mask of the warp's threads that have not ended
std::uint64_t rx_exchange(std::uint32_t mask, std::uint64_t value, unsigned source, int line);
void rx_atomic(void *at, std::size_t size);     // called before an atomic access
void *rx_here(void *device);                    // the host address of a device address
}
