// Weights packed for products: blocks of 16 rows that lie side by side, so that one vector holds 16 rows' numbers.
//
// Rows are padded with zeros to a multiple of 16, columns to one of 32. A block holds, one after the other:
//
//   float32    64 bytes a column: 16 rows
//   bfloat16   64 bytes a pair of columns: row 0's two numbers, row 1's two, …
//   int8       for each group of 32 columns 8 × 64 bytes, four columns of each row, the weight + 128 as a byte;
//              behind all groups, for each group 16 scales in half precision.   weight = scale · (byte − 128)
//   int4       for each group 4 × 64 bytes: byte b of a row in vector v has column 8v + b in its low four bits and
//              column 8v + 4 + b in its high ones; behind all groups, for each 16 scales and 16 minima in half
//              precision.                                                        weight = scale · nibble + minimum
#pragma once
#include "abi.h"
#include "memory.h"
#include "numbers.h"

namespace clearformer {

// Where rows go that are given one after the other.
struct Target {
  int64_t first, run, stride;
  int64_t operator()(int64_t row) const { return first + row / run * stride + row % run; }
};

}  // namespace clearformer

struct cf_matrix {
  cf_matrix(cf_format format, int64_t rows, int64_t columns);

  cf_format format;
  int64_t rows, columns;
  int64_t blocks, padded_columns, groups;
  size_t block_bytes;
  clearformer::Piece memory;

  const char* block(int64_t index) const { return memory.data() + index * block_bytes; }
  // Bytes from a block's start to its scales.
  size_t scales_at() const { return size_t(groups) * (format == CF_INT4 ? 256 : 512); }
  void fill(cf_source source, const char* data, int64_t count, clearformer::Target target, int threads);
  void read(int64_t row, float* out) const;
};

namespace clearformer {

constexpr int LANES = 16, GROUP = 32;

// Whether activations come as four int8 a word, in groups of 32; else as one float32 a word.
static inline bool rounds_activations(cf_format format) { return format >= CF_INT8; }

}  // namespace clearformer
