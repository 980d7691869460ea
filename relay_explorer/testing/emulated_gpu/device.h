// What the two halves of the emulated GPU share: its memory and its settings. gpu.cpp runs kernels; libraries.cpp are
// the functions of NVIDIA's libraries that TVM's runtime calls.
//
// An address of the device is its address here plus AWAY, so that whoever takes one for an address of the host faults.
#pragma once
#define RX_GPU
#include "gpu.h"

#include <map>
#include <string>
#include <vector>

using Address = std::uintptr_t;
constexpr Address AWAY = Address(1) << 46;
constexpr unsigned WARP = 32, BLOCK = 1024, STATIC_SHARED = 48 << 10;
constexpr unsigned char UNWRITTEN = 0xff;  // memory before anybody wrote to it: not a number, -1

struct Settings {
  int present = 0, major = 8, minor = 0, counts = 0;
};
extern Settings settings;
extern std::string problem, report;  // what went wrong last; what ran

struct Touched {  // a byte: who wrote and who read it last, since when
  std::uint32_t writer = 0, reader = 0;          // number of the thread in the grid + 1; MANY
  std::uint32_t wrote_block = 0, read_block = 0;  // barriers of the block until then
  std::uint32_t wrote_warp = 0, read_warp = 0;    // and of the warp
  std::uint32_t wrote_launch = 0, read_launch = 0;
  bool atomic = false;
};
struct Memory {
  Address start, end;
  std::vector<Touched> bytes;  // made when a kernel first touches it
};
extern std::map<Address, Memory> memories;  // by start
Memory *memory_of(Address at);  // the piece that an address is in

struct Function {
  std::string name;
  void (*run)(void **);
  const rx_facts *facts;
  unsigned dynamic = 0;
  char *shared_start, *shared_end;
};

// Runs a kernel; 0, or the error's number, and then `problem` says what it is.
int launched(const rx_dim &grid, const rx_dim &block, std::size_t dynamic, Function *function, void **args);
