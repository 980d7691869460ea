// What kernels call of the emulated GPU (gpu.cpp).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

struct rx_dim {
  unsigned x, y, z;
};

struct rx_facts {  // of a kernel
  unsigned threads, shared, parameters;
  const char *const *names;
};

extern "C" {
#ifdef RX_GPU
extern rx_dim threadIdx, blockIdx, blockDim, gridDim;
#else
extern const rx_dim threadIdx, blockIdx, blockDim, gridDim;  // for a thread they are; and no access is seen
#endif
void rx_barrier(int line);                      // waits for the other threads of the block
void rx_warp(std::uint32_t mask, int line);     // and for those of the warp that are in the mask
std::uint32_t rx_active();                      // the threads of the warp that have not ended
std::uint64_t rx_exchange(std::uint32_t mask, std::uint64_t value, unsigned source, int line);
void rx_atomic(void *at, std::size_t size);     // before an atomic access
void *rx_here(void *device);                    // where the memory of the device is
}
