#include "engine.h"

#include <algorithm>

namespace clearformer {

namespace {

struct Sizes {
  int64_t joint = 0, mixed = 0, value = 0, wide = 0, network = 0, experts = 0, pairs = 1, key = 0;
};

Sizes sizes_of(const cf_program& program) {
  Sizes most;
  for (int32_t index = 0; index < program.layer_count; ++index) {
    const cf_attention& attention = program.layers[index].attention;
    const cf_mixture& mixture = program.layers[index].feedforward;
    most.joint = std::max(most.joint, attention.joint.matrix->rows);
    most.mixed = std::max(most.mixed, attention.output.matrix->columns);
    most.value = std::max<int64_t>(most.value, attention.value_width);
    most.key = std::max<int64_t>(most.key, attention.key_width);
    most.experts = std::max<int64_t>(most.experts, mixture.count);
    most.pairs = std::max<int64_t>(most.pairs, mixture.active);
    for (int32_t expert = 0; expert < mixture.count; ++expert) {
      most.wide = std::max(most.wide, mixture.experts[expert].up.matrix->rows);
      most.network = std::max<int64_t>(most.network, mixture.experts[expert].width);
    }
    if (mixture.shared) {
      most.wide = std::max(most.wide, mixture.shared->up.matrix->rows);
      most.network = std::max<int64_t>(most.network, mixture.shared->width);
    }
  }
  return most;
}

}  // namespace

template <class T>
T* Room::take(int64_t count) {
  memories_.emplace_back(padded(std::max<int64_t>(count, 1) * sizeof(T), 4096));
  return memories_.back().as<T>();
}

Rows<float> Room::table(int64_t rows, int64_t width) {
  const int64_t stride = int64_t(padded(width, 2 * LANES)) + 2 * LANES;
  return {take<float>(rows * stride), stride};
}

Operand Room::operand_of(int64_t rows, int64_t width) {
  const int64_t columns = int64_t(padded(width, GROUP));
  Operand made;
  made.words = take<uint32_t>(rows * columns);
  made.scales = take<float>(rows * columns / GROUP);
  made.offsets = take<int32_t>(2 * rows * columns / GROUP);
  made.totals = take<float>(rows * columns / GROUP);
  return made;
}

Room::Room(const cf_program& program, int rows, int threads) {
  const Sizes most = sizes_of(program);
  const int64_t widest = std::max({int64_t(program.width), most.mixed, most.network});
  stream = table(rows, program.width);
  branch = table(rows, program.width);
  joint = table(rows, most.joint);
  mixed = table(rows, most.mixed);
  hidden = table(rows * most.pairs, most.wide);
  activated = table(rows * most.pairs, most.network);
  scores = table(rows, most.experts);
  gates = table(rows, 1);
  operand = operand_of(rows * most.pairs, widest);
  routed = operand_of(rows, program.width);
  for (int row = 0; row < rows; ++row) everyone.push_back(row);
  pair_row.resize(rows * most.pairs);
  pair_share.resize(rows * most.pairs);
  pair_begin.resize(most.experts + 1);
  gate_share.resize(rows);
  chosen.resize(rows * most.pairs);
  weights.resize(rows * most.pairs);
  for (int thread = 0; thread < threads; ++thread) {
    own.push_back({operand_of(most.pairs, widest), operand_of(1, program.width), take<float>(widest + 2 * GROUP),
                   take<float>(8 * padded(most.value, LANES)), take<float>(padded(std::max(most.key, most.value), LANES) + LANES)});
  }
}

}  // namespace clearformer

cf_engine::cf_engine(const cf_program& given, int threads, const clearformer::Path& path)
    : program(given), pool(threads), room(program, program.rows, pool.threads()), path(path) {}

void cf_engine::run(int rows, const int32_t* ids, cf_sequence* const* sequences, int wanted_count, const int32_t* wanted,
                    float* logits) {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<int64_t> positions(rows);
  for (int row = 0; row < rows; ++row)
    positions[row] = row && sequences[row] == sequences[row - 1] ? positions[row - 1] + 1 : sequences[row]->length;
  clearformer::Step step{&program, &room, pool.threads(), rows, ids, sequences, positions.data(), wanted_count, wanted, logits};
  pool.run([&](int thread, clearformer::Barrier& barrier) { path.walk(step, thread, barrier); });
  for (int row = 0; row < rows; ++row) sequences[row]->length = positions[row] + 1;
}
