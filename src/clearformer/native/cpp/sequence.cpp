#include "sequence.h"

#include <algorithm>

using clearformer::padded;

cf_sequence::cf_sequence(const cf_engine& engine, const cf_program& program, int64_t capacity, const cf_tables& tables)
    : engine(&engine),
      capacity(capacity),
      number_bytes(program.half_cache ? 2 : 4),
      inputs(tables.inputs) {
  int32_t rotations = 0, biases = 0;
  size_t numbers = 0;
  for (int32_t index = 0; index < program.layer_count; ++index) {
    const cf_attention& attention = program.layers[index].attention;
    rotations = std::max(rotations, attention.rotary + 1);
    biases = std::max(biases, attention.bias + 1);
    Layer layer{numbers, 0, attention.key_width, int64_t(padded(attention.value_width, 16)), attention.kv_heads};
    layer.values = numbers + layer.heads * capacity * layer.key_width;
    numbers = layer.values + layer.heads * capacity * layer.value_width;
    layers.push_back(layer);
  }
  rotary.assign(tables.rotary, tables.rotary + rotations);
  bias.assign(tables.bias, tables.bias + biases);
  memory = clearformer::Memory(numbers * number_bytes);
}

void cf_sequence::take(const cf_sequence& other) {
  const int64_t filled = int64_t(padded(other.length, 16));
  for (const Layer& layer : layers) {
    for (int32_t head = 0; head < layer.heads; ++head) {
      const size_t keys = (layer.keys + head * capacity * layer.key_width) * number_bytes;
      const size_t values = (layer.values + head * capacity * layer.value_width) * number_bytes;
      memcpy(memory.data() + keys, other.memory.data() + keys, filled * layer.key_width * number_bytes);
      memcpy(memory.data() + values, other.memory.data() + values, filled * layer.value_width * number_bytes);
    }
  }
  length = other.length;
}
