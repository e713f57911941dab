// Packed weights times activations: for each block of 16 rows of weights, every row of a tile.
//
// A number is summed in the same order whatever the tile, so a row gives the same alone and in a batch.
#pragma once
#include "panels.h"

namespace clearformer {

// The processor fetches ahead by itself, but not past the end of a page of 4,096 bytes: these lines are asked for early.
static inline void fetch_ahead(const char* weights, int lines) {
  constexpr int AHEAD = 2048;
  for (int line = 0; line < lines; ++line) __builtin_prefetch(weights + AHEAD + 64 * line);
}

// Float32, and bfloat16 widened to it: on Intel's processors that is twice as fast as their own products of bfloat16, and
// activations stay as they are. `B` blocks at once, so that few rows have enough sums to keep the processor busy.
template <class I, cf_format FORMAT, int R, int B>
void float_blocks(const cf_matrix& m, const Operand& x, Tile tile, int64_t first, const Destination& to) {
  typename I::F sums[B][R];
  for (int b = 0; b < B; ++b)
    for (int r = 0; r < R; ++r) sums[b][r] = I::zero();
  const char* weights = m.block(first);
  const uint32_t* words = x.words + tile.first * x.words_a_row;
  constexpr int COLUMNS = FORMAT == CF_FLOAT32 ? 1 : 2;
  for (int64_t at = 0; at < x.words_a_row; at += COLUMNS, weights += 64, words += COLUMNS * R)
    for (int b = 0; b < B; ++b) {
      const char* sixteen = weights + b * m.block_bytes;
      fetch_ahead(sixteen, 1);
      const auto first = FORMAT == CF_FLOAT32 ? I::load(reinterpret_cast<const float*>(sixteen)) : I::even_bfloat16(sixteen);
      for (int r = 0; r < R; ++r) sums[b][r] = I::fma(first, I::set(float_of(words[r])), sums[b][r]);
      if constexpr (COLUMNS == 2) {
        const auto second = I::odd_bfloat16(sixteen);
        for (int r = 0; r < R; ++r) sums[b][r] = I::fma(second, I::set(float_of(words[R + r])), sums[b][r]);
      }
    }
  for (int b = 0; b < B; ++b)
    for (int r = 0; r < R; ++r) finish<I>(to, tile.first + r, first + b, sums[b][r]);
}

// A group's 32 columns of 16 rows as bytes, times one row's; words stand `step` apart, as do the rows of a tile.
template <class I, class Bytes>
inline auto dot_group(int32_t offset, const Bytes (&w)[8], const uint32_t* words, int step) {
  auto dot = I::start_bytes(offset);
  for (int word = 0; word < 8; ++word) dot = I::dot_bytes(dot, w[word], words + word * step);
  return dot;
}

template <class I, bool FINE, int R>
void int8_block(const cf_matrix& m, const Operand& x, Tile tile, int64_t block, const Destination& to) {
  typename I::F sums[R];
  for (int r = 0; r < R; ++r) sums[r] = I::zero();
  const char* weights = m.block(block);
  const uint16_t* scales = reinterpret_cast<const uint16_t*>(weights + m.scales_at());
  const uint32_t* words = x.words + tile.first * x.words_a_row;
  const int64_t numbers = tile.first * x.groups;
  constexpr int PARTS = FINE ? 2 : 1;
  for (int64_t group = 0; group < x.groups; ++group, weights += 512, words += PARTS * 8 * R, scales += LANES) {
    fetch_ahead(weights, 8);
    const auto scale = I::load_half(scales);
    const decltype(I::load_bytes(weights)) w[8] = {I::load_bytes(weights), I::load_bytes(weights + 64), I::load_bytes(weights + 128),
                                                   I::load_bytes(weights + 192), I::load_bytes(weights + 256), I::load_bytes(weights + 320),
                                                   I::load_bytes(weights + 384), I::load_bytes(weights + 448)};
    const int32_t* offsets = x.offsets + PARTS * (numbers + group * R);
    for (int r = 0; r < R; ++r) {
      auto y = I::to_float(dot_group<I>(offsets[r], w, words + r, R));
      if constexpr (FINE) y = I::fma(y, I::set(SECOND), I::to_float(dot_group<I>(offsets[R + r], w, words + 8 * R + r, R)));
      sums[r] = I::fma(y, I::mul(scale, I::set(x.scales[numbers + group * R + r])), sums[r]);
    }
  }
  for (int r = 0; r < R; ++r) finish<I>(to, tile.first + r, block, sums[r]);
}

template <class I, int R>
void int4_block(const cf_matrix& m, const Operand& x, Tile tile, int64_t block, const Destination& to) {
  typename I::F sums[R];
  for (int r = 0; r < R; ++r) sums[r] = I::zero();
  const char* weights = m.block(block);
  const uint16_t* scales = reinterpret_cast<const uint16_t*>(weights + m.scales_at());
  const uint32_t* words = x.words + tile.first * x.words_a_row;
  const int64_t numbers = tile.first * x.groups;
  for (int64_t group = 0; group < x.groups; ++group, weights += 256, words += 8 * R, scales += 2 * LANES) {
    fetch_ahead(weights, 4);
    const auto scale = I::load_half(scales), minimum = I::load_half(scales + LANES);
    const auto v0 = I::load_bytes(weights), v1 = I::load_bytes(weights + 64), v2 = I::load_bytes(weights + 128),
               v3 = I::load_bytes(weights + 192);
    const auto w0 = I::low_nibbles(v0), w1 = I::high_nibbles(v0), w2 = I::low_nibbles(v1), w3 = I::high_nibbles(v1),
               w4 = I::low_nibbles(v2), w5 = I::high_nibbles(v2), w6 = I::low_nibbles(v3), w7 = I::high_nibbles(v3);
    for (int r = 0; r < R; ++r) {
      auto dot = I::no_int();
      dot = I::dot_nibbles(dot, w0, words + r);
      dot = I::dot_nibbles(dot, w1, words + R + r);
      dot = I::dot_nibbles(dot, w2, words + 2 * R + r);
      dot = I::dot_nibbles(dot, w3, words + 3 * R + r);
      dot = I::dot_nibbles(dot, w4, words + 4 * R + r);
      dot = I::dot_nibbles(dot, w5, words + 5 * R + r);
      dot = I::dot_nibbles(dot, w6, words + 6 * R + r);
      dot = I::dot_nibbles(dot, w7, words + 7 * R + r);
      const int64_t at = numbers + group * R + r;
      sums[r] = I::fma(minimum, I::set(x.totals[at]), sums[r]);
      sums[r] = I::fma(I::to_float(dot), I::mul(scale, I::set(x.scales[at])), sums[r]);
    }
  }
  for (int r = 0; r < R; ++r) finish<I>(to, tile.first + r, block, sums[r]);
}

template <class I, cf_format FORMAT, int R>
void tile_blocks(const cf_matrix& m, const Operand& x, Tile tile, int64_t first, int64_t last, const Destination& to) {
  if constexpr (FORMAT == CF_INT4) {
    for (int64_t block = first; block < last; ++block) int4_block<I, R>(m, x, tile, block, to);
  } else if constexpr (FORMAT == CF_INT8 || FORMAT == CF_INT8_FINE) {
    for (int64_t block = first; block < last; ++block) int8_block<I, FORMAT == CF_INT8_FINE, R>(m, x, tile, block, to);
  } else {
    constexpr int TOGETHER = R >= I::MOST_ROWS ? 1 : R * 4 > I::MOST_ROWS ? 2 : 4;
    int64_t block = first;
    for (; block + TOGETHER <= last; block += TOGETHER) float_blocks<I, FORMAT, R, TOGETHER>(m, x, tile, block, to);
    for (; block < last; ++block) float_blocks<I, FORMAT, R, 1>(m, x, tile, block, to);
  }
}

template <class I, cf_format FORMAT>
void format_blocks(const cf_matrix& m, const Operand& x, Tile tile, int64_t first, int64_t last, const Destination& to) {
  if constexpr (I::MOST_ROWS >= 16) {
    if (tile.rows == 16) return tile_blocks<I, FORMAT, 16>(m, x, tile, first, last, to);
    if (tile.rows == 8) return tile_blocks<I, FORMAT, 8>(m, x, tile, first, last, to);
  }
  if (tile.rows == 4) return tile_blocks<I, FORMAT, 4>(m, x, tile, first, last, to);
  if (tile.rows == 2) return tile_blocks<I, FORMAT, 2>(m, x, tile, first, last, to);
  tile_blocks<I, FORMAT, 1>(m, x, tile, first, last, to);
}

// Blocks `first` to `last` of the weights times operand rows `from` to `to_row`. A few blocks stay in the nearest cache
// while every tile passes over them: weights come from memory once.
template <class I>
void multiply(const cf_matrix& m, const Operand& x, int from, int to_row, int64_t first, int64_t last, const Destination& to) {
  if (m.format == CF_FLOAT32 && to_row - from >= I::FLOAT_ROWS) return multiply_panels<I>(m, x, from, to_row, first, last, to);
  constexpr int64_t KEPT = 4;
  for (int64_t block = first; block < last; block += KEPT) {
    const int64_t end = block + KEPT < last ? block + KEPT : last;
    for (int row = from; row < to_row;) {
      const Tile tile = tile_at(row, to_row, most_rows<I>(m.format));
      switch (m.format) {
        case CF_FLOAT32: format_blocks<I, CF_FLOAT32>(m, x, tile, block, end, to); break;
        case CF_BFLOAT16: format_blocks<I, CF_BFLOAT16>(m, x, tile, block, end, to); break;
        case CF_INT8: format_blocks<I, CF_INT8>(m, x, tile, block, end, to); break;
        case CF_INT4: format_blocks<I, CF_INT4>(m, x, tile, block, end, to); break;
        case CF_INT8_FINE: format_blocks<I, CF_INT8_FINE>(m, x, tile, block, end, to); break;
      }
      row += tile.rows;
    }
  }
}

}  // namespace clearformer
