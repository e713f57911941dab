// Float32 weights times many rows: panels of columns that stay in the nearest cache while every tile passes over them.
//
// Sums wait between panels as they are, so a number is still summed column by column, as in `product.h`.
#pragma once
#include "destination.h"
#include "operand.h"

#include <algorithm>

namespace clearformer {

constexpr int64_t PANEL = 128;
constexpr int PANEL_ROWS = 128;

// Columns `begin` to `end` of `B` blocks and one tile; `kept` holds its sums from one panel to the next.
template <class I, int R, int B>
void float_panel(const cf_matrix& m, const Operand& x, Tile tile, int64_t first, int64_t begin, int64_t end, float* kept, const Destination& to) {
  typename I::F sums[B][R];
  for (int b = 0; b < B; ++b)
    for (int r = 0; r < R; ++r) sums[b][r] = begin ? I::load(kept + (b * R + r) * LANES) : I::zero();
  const char* weights = m.block(first) + begin * 64;
  const uint32_t* words = x.words + tile.first * x.words_a_row + begin * R;
  for (int64_t at = begin; at < end; ++at, weights += 64, words += R) {
    typename I::F sixteen[B];
    for (int b = 0; b < B; ++b) {
      sixteen[b] = I::load(reinterpret_cast<const float*>(weights + b * m.block_bytes));
      // The next panel, into the farther cache.
      __builtin_prefetch(weights + b * m.block_bytes + PANEL * 64, 0, 2);
    }
    for (int r = 0; r < R; ++r) {
      const auto number = I::set(float_of(words[r]));
      for (int b = 0; b < B; ++b) sums[b][r] = I::fma(sixteen[b], number, sums[b][r]);
    }
  }
  for (int b = 0; b < B; ++b)
    for (int r = 0; r < R; ++r)
      end < x.words_a_row ? I::store(kept + (b * R + r) * LANES, sums[b][r]) : finish<I>(to, tile.first + r, first + b, sums[b][r]);
}

template <class I, int B>
void float_panels(const cf_matrix& m, const Operand& x, int from, int to_row, int64_t first, const Destination& to) {
  alignas(64) float kept[PANEL_ROWS * B * LANES];
  for (int begin_row = from; begin_row < to_row; begin_row += PANEL_ROWS) {
    const int end_row = std::min(begin_row + PANEL_ROWS, to_row);
    for (int64_t begin = 0; begin < x.words_a_row; begin += PANEL) {
      const int64_t end = std::min(begin + PANEL, x.words_a_row);
      for (int row = begin_row; row < end_row;) {
        const Tile tile = tile_at(row, end_row, I::FLOAT_ROWS);
        float* sums = kept + (row - begin_row) * B * LANES;
        if constexpr (I::FLOAT_ROWS >= 8) {
          if (tile.rows == 8) float_panel<I, 8, B>(m, x, tile, first, begin, end, sums, to);
        }
        if (tile.rows == 4) float_panel<I, 4, B>(m, x, tile, first, begin, end, sums, to);
        if (tile.rows == 2) float_panel<I, 2, B>(m, x, tile, first, begin, end, sums, to);
        if (tile.rows == 1) float_panel<I, 1, B>(m, x, tile, first, begin, end, sums, to);
        row += tile.rows;
      }
    }
  }
}

// Blocks `first` to `last` times operand rows `from` to `to_row`.
template <class I>
void multiply_panels(const cf_matrix& m, const Operand& x, int from, int to_row, int64_t first, int64_t last, const Destination& to) {
  for (; first + I::FLOAT_BLOCKS <= last; first += I::FLOAT_BLOCKS) float_panels<I, I::FLOAT_BLOCKS>(m, x, from, to_row, first, to);
  for (; first < last; ++first) float_panels<I, 1>(m, x, from, to_row, first, to);
}

}  // namespace clearformer
