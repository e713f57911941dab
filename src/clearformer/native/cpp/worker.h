// One thread at work on a step: its share of a phase, the barrier at its end, and activations on their way to a product.
//
// A lone row's activations are prepared by each thread for itself, which costs less than a barrier; those of several rows
// are shared out.
#pragma once
#include "engine.h"
#include "norm.h"
#include "product.h"

namespace clearformer {

// A thread's share.
struct Span {
  int64_t begin, end;
};

template <class I>
class Worker {
 public:
  Worker(const Step& step, int thread, Barrier& barrier)
      : step_(step), program_(*step.program), room_(*step.room), own_(room_.own[thread]), thread_(thread), barrier_(barrier), width_(program_.width) {}

 protected:
  Span share(int64_t total) const { return {total * thread_ / step_.threads, total * (thread_ + 1) / step_.threads}; }

  void meet() {
    if (step_.threads > 1) barrier_.wait();
  }

  Destination into(bool straight, const float* bias) const {
    const Rows<float>& rows = straight ? room_.stream : room_.branch;
    return {rows.data, rows.stride, bias, nullptr, nullptr, straight};
  }

  // Rows as a product of `format` reads them, normalised and scaled on the way. `ranges` are where the tiles of a range
  // of rows begin and end: one range, or one an expert.
  template <class Source>
  Operand prepare(Operand operand, cf_format format, int64_t width, const cf_norm& norm, const int* ranges, int range_count,
                  Source source, bool lone, float scale = 1) {
    const int64_t columns = int64_t(padded(width, GROUP));
    operand.shape(format, columns);
    for (int range = 0; range < range_count; ++range) {
      for (int row = ranges[range]; row < ranges[range + 1];) {
        const Tile tile = tile_at(row, ranges[range + 1], most_rows<I>(format));
        for (const int end = row + tile.rows; row < end; ++row) {
          if (!lone && row % step_.threads != thread_) continue;
          const float* x = source(row);
          if (norm.kind != CF_NO_NORM || width % GROUP || scale != 1) {
            normalise<I>(norm, x, own_.row, width);
            for (int64_t at = width; at < columns; ++at) own_.row[at] = 0;
            for (int64_t at = 0; at < width && scale != 1; ++at) own_.row[at] *= scale;
            x = own_.row;
          }
          place_row<I>(operand, format, x, tile, row);
        }
      }
    }
    if (!lone) meet();
    return operand;
  }

  // All rows of one table.
  Operand prepare_all(const Rows<float>& rows, cf_format format, int64_t width, const cf_norm& norm) {
    const int ranges[2] = {0, step_.rows};
    const bool lone = step_.rows == 1;
    return prepare(lone ? own_.operand : room_.operand, format, width, norm, ranges, 1, [&](int row) { return rows[row]; }, lone);
  }

  void product(const cf_linear& linear, const Operand& x, int rows, const Destination& to) {
    const Span blocks = share(linear.matrix->blocks);
    multiply<I>(*linear.matrix, x, 0, rows, blocks.begin, blocks.end, to);
    meet();
  }

  const Step& step_;
  const cf_program& program_;
  Room& room_;
  const Room::Own& own_;
  const int thread_;
  Barrier& barrier_;
  const int64_t width_;
};

}  // namespace clearformer
