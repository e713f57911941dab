// A program with the threads that run it and the room they work in.
#pragma once
#include <mutex>
#include <vector>

#include "operand.h"
#include "pool.h"
#include "sequence.h"

namespace clearformer {

struct Room;

// What one call computes: its rows, which sequence and position each continues, and whose logits are asked for.
struct Step {
  const cf_program* program;
  Room* room;
  int threads;
  int rows;
  const int32_t* ids;
  cf_sequence* const* sequences;
  const int64_t* positions;
  int wanted_count;
  const int32_t* wanted;
  float* logits;
};

// Every thread's part of a step.
using Walk = void (*)(const Step& step, int thread, Barrier& barrier);

// An instruction set, compiled in; `here` is whether this processor has it.
struct Path {
  const char* name;
  bool (*here)();
  Walk walk;
};
extern const Path PATHS[];
extern const int PATH_COUNT;

// A part of the room's memory.
template <class T>
struct Rows {
  T* data = nullptr;
  int64_t stride = 0;
  T* operator[](int64_t row) const { return data + row * stride; }
};

// Buffers of a step. Strides are multiples of 32; numbers past a row's width are 0 or are never read.
struct Room {
  Room(const cf_program& program, int rows, int threads);

  Rows<float> stream, branch;       // the residual stream, and what a sublayer adds to it
  Rows<float> joint, mixed;         // queries, keys and values; the heads' outputs
  Rows<float> hidden, activated;    // a network's wide numbers, before and after its activation
  Rows<float> scores, gates;        // a router's, and a shared expert's
  Operand operand, routed;          // what products of all threads read
  std::vector<int> everyone, pair_row, pair_begin;
  std::vector<float> pair_share, gate_share;
  std::vector<int32_t> chosen;
  std::vector<float> weights;
  struct Own {
    Operand operand, routed;        // of a lone row: each thread prepares it for itself
    float *row, *mixed, *head;
  };
  std::vector<Own> own;

 private:
  std::vector<Memory> memories_;
  template <class T>
  T* take(int64_t count);
  Rows<float> table(int64_t rows, int64_t width);
  Operand operand_of(int64_t rows, int64_t width);
};

}  // namespace clearformer

struct cf_engine {
  cf_engine(const cf_program& program, int threads, const clearformer::Path& path);

  void run(int rows, const int32_t* ids, cf_sequence* const* sequences, int wanted_count, const int32_t* wanted, float* logits);

  const cf_program program;
  clearformer::Pool pool;
  clearformer::Room room;
  const clearformer::Path& path;
  std::mutex mutex;
};
