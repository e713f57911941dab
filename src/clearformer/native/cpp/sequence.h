// What is kept of one text: keys and values of every layer, and how many tokens are in them.
//
// Keys stand in blocks of 16 positions, in a block number by number, 16 positions beside each other: a query's scores for
// 16 keys come out of one vector. Values stand position by position, padded to a multiple of 16 numbers.
#pragma once
#include <vector>

#include "abi.h"
#include "memory.h"
#include "numbers.h"

struct cf_sequence {
  cf_sequence(const cf_engine& engine, const cf_program& program, int64_t capacity, const cf_tables& tables);

  struct Layer {
    size_t keys, values;             // where the first head's begin, in numbers
    int64_t key_width, value_width;  // the latter padded
    int32_t heads;
  };

  const cf_engine* engine;
  int64_t capacity, length = 0;  // the former a multiple of 16
  size_t number_bytes;
  const float* inputs;
  std::vector<const float*> rotary, bias;
  std::vector<Layer> layers;
  clearformer::Memory memory;

  template <class Number>
  Number* keys(const Layer& layer, int32_t head) const {
    return memory.as<Number>() + layer.keys + head * capacity * layer.key_width;
  }
  template <class Number>
  Number* values(const Layer& layer, int32_t head) const {
    return memory.as<Number>() + layer.values + head * capacity * layer.value_width;
  }
  void take(const cf_sequence& other);
};
