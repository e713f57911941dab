// Activations as a product reads them: rows in tiles of 16, 8, 4, 2 or 1, and in a tile word by word, row beside row.
//
// A word is four bytes: one float32, or four int8 of a group of 32 with a scale of its own. So a product finds what it
// multiplies next, for every row of the tile, one after the other.
//
// Fine activations are two bytes, scale · (byte + second / 254): what the first leaves is less than half of its step. A
// group's eight words of first bytes are followed by eight of second ones, and so are the rows' offsets.
#pragma once
#include "matrix.h"

namespace clearformer {

// Rows `first` to `first + rows` of an operand.
struct Tile {
  int first, rows;
};

// The tile of `rows` rows that row `first` begins: as many as fit, a power of two.
static inline Tile tile_at(int first, int rows, int most) {
  int size = most;
  while (size > rows - first) size /= 2;
  return {first, size};
}

// Rows of the largest tile.
template <class I>
constexpr int most_rows(cf_format format) {
  return format == CF_FLOAT32 ? I::FLOAT_ROWS : I::MOST_ROWS;
}

struct Operand {
  uint32_t* words = nullptr;
  float* scales = nullptr;      // a group's scale
  int32_t* offsets = nullptr;   // −128 · Σ of the group's whole numbers; room for two a group
  float* totals = nullptr;      // scale · Σ of the group's whole numbers
  int64_t words_a_row = 0, groups = 0;

  void shape(cf_format format, int64_t padded_columns) {
    words_a_row = !rounds_activations(format) ? padded_columns : format == CF_INT8_FINE ? padded_columns / 2 : padded_columns / 4;
    groups = padded_columns / GROUP;
  }
};

// Steps of a second byte in one of the first: ±127 of them are half of it.
constexpr float SECOND = 254;

// A group's 32 numbers rounded to bytes, four a word; their sum.
template <class I>
int32_t place_bytes(uint32_t* words, int64_t step, typename I::F low, typename I::F high) {
  alignas(64) int8_t whole[GROUP];
  I::store_int8(whole, low);
  I::store_int8(whole + LANES, high);
  int32_t sum = 0;
  for (int i = 0; i < GROUP; ++i) sum += whole[i];
  for (int word = 0; word < GROUP / 4; ++word) memcpy(words + word * step, whole + 4 * word, 4);
  return sum;
}

// Write one row, `padded_columns` numbers of which those past the width are 0, to its place in its tile.
template <class I>
void place_row(const Operand& operand, cf_format format, const float* row, Tile tile, int number) {
  const int within = number - tile.first;
  uint32_t* words = operand.words + tile.first * operand.words_a_row + within;
  const int64_t step = tile.rows;
  if (!rounds_activations(format)) {
    for (int64_t at = 0; at < operand.words_a_row; ++at) words[at * step] = bits_of(row[at]);
    return;
  }
  for (int64_t group = 0; group < operand.groups; ++group) {
    const auto low = I::load(row + group * GROUP), high = I::load(row + group * GROUP + LANES);
    const float most = I::largest(I::max(I::abs(low), I::abs(high)));
    // 0, or NaN where a number is none: it reaches the logits through the scale.
    const float poison = I::sum(I::mul(I::add(low, high), I::zero()));
    const float inverse = most > 0 ? 127 / most : 0;
    const auto x0 = I::mul(low, I::set(inverse)), x1 = I::mul(high, I::set(inverse));
    const float scale = most / 127 + poison;
    const int64_t at = tile.first * operand.groups + group * step;
    if (format == CF_INT8_FINE) {
      const auto rest = I::set(SECOND);
      operand.scales[at + within] = scale / SECOND;
      uint32_t* first = words + group * 16 * step;
      operand.offsets[2 * at + within] = -128 * place_bytes<I>(first, step, x0, x1);
      operand.offsets[2 * at + step + within] =
          -128 * place_bytes<I>(first + 8 * step, step, I::mul(I::sub(x0, I::round(x0)), rest), I::mul(I::sub(x1, I::round(x1)), rest));
    } else {
      const int32_t sum = place_bytes<I>(words + group * 8 * step, step, x0, x1);
      operand.scales[at + within] = scale;
      operand.offsets[at + within] = -128 * sum;
      operand.totals[at + within] = scale * float(sum);
    }
  }
}

}  // namespace clearformer
