// The C functions of `abi.h`: what was given is checked here, and no exception leaves.
#include <algorithm>
#include <exception>
#include <stdexcept>
#include <string>

#include "engine.h"

using namespace clearformer;

namespace {

thread_local std::string failure;

// What `work` returns, or `otherwise` after an exception, whose words `cf_failure` keeps.
template <class Result, class Work>
Result guarded(Result otherwise, Work work) {
  try {
    failure.clear();
    return work();
  } catch (const std::bad_alloc&) {
    failure = "memory";
  } catch (const std::exception& error) {
    failure = error.what();
  }
  return otherwise;
}

void require(bool held, const char* otherwise) {
  if (!held) throw std::invalid_argument(otherwise);
}

const Path& path_named(const std::string& name) {
  for (int index = 0; index < PATH_COUNT; ++index)
    if (name == PATHS[index].name && PATHS[index].here()) return PATHS[index];
  throw std::invalid_argument("path");
}

void check_step(const cf_engine& engine, int rows, const int32_t* ids, cf_sequence* const* sequences, int wanted_count,
                const int32_t* wanted) {
  require(rows >= 1 && rows <= engine.program.rows && wanted_count >= 0 && wanted_count <= rows, "rows");
  for (int at = 0; at < wanted_count; ++at) require(wanted[at] >= 0 && wanted[at] < rows, "wanted");
  for (int row = 0, run = 0; row < rows; ++row) {
    require(ids[row] >= 0 && ids[row] < engine.program.vocabulary, "id");
    require(sequences[row]->engine == &engine, "sequence");
    run = row && sequences[row] == sequences[row - 1] ? run + 1 : 1;
    require(sequences[row]->length + run <= sequences[row]->capacity, "capacity");
    require(run > 1 || std::find(sequences, sequences + row, sequences[row]) == sequences + row, "order");
  }
}

}  // namespace

extern "C" {

int32_t cf_abi() { return CF_ABI; }

int32_t cf_sizes(int32_t* sizes, int32_t room) {
  const int32_t found[] = {sizeof(cf_norm),      sizeof(cf_linear), sizeof(cf_feedforward), sizeof(cf_mixture),
                           sizeof(cf_attention), sizeof(cf_layer),  sizeof(cf_program),     sizeof(cf_tables)};
  const int32_t count = sizeof found / sizeof found[0];
  for (int32_t at = 0; at < std::min(room, count); ++at) sizes[at] = found[at];
  return count;
}

const char* cf_architecture() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "arm64";
#else
  return "other";
#endif
}

const char* cf_paths() {
  static const std::string names = [] {
    std::string joined;
    for (int index = 0; index < PATH_COUNT; ++index)
      if (PATHS[index].here()) joined += (joined.empty() ? "" : " ") + std::string(PATHS[index].name);
    return joined;
  }();
  return names.c_str();
}

const char* cf_failure() { return failure.c_str(); }

cf_matrix* cf_matrix_new(int32_t format, int64_t rows, int64_t columns) {
  return guarded<cf_matrix*>(nullptr, [&] {
    require(format >= CF_FLOAT32 && format <= CF_INT8_FINE && rows >= 1 && columns >= 1, "shape");
    return new cf_matrix(cf_format(format), rows, columns);
  });
}

void cf_matrix_free(cf_matrix* matrix) { delete matrix; }

int64_t cf_matrix_bytes(const cf_matrix* matrix) { return int64_t(matrix->memory.bytes()); }

int32_t cf_matrix_fill(cf_matrix* matrix, int32_t source, const void* data, int64_t rows, int64_t first, int64_t run, int64_t stride,
                       int32_t threads) {
  return guarded(-1, [&] {
    require(source >= CF_FROM_F32 && source <= CF_FROM_Q8_0, "source");
    require(source < CF_FROM_Q4_0 || matrix->columns % GROUP == 0, "columns");
    require(rows >= 1 && first >= 0 && run >= 1 && stride >= 0, "rows");
    require(first + (rows - 1) / run * stride + std::min(rows, run) - 1 < matrix->blocks * LANES, "rows");
    require(threads >= 1, "threads");
    matrix->fill(cf_source(source), static_cast<const char*>(data), rows, {first, run, stride}, threads);
    return 0;
  });
}

int32_t cf_matrix_row(const cf_matrix* matrix, int64_t row, float* out) {
  return guarded(-1, [&] {
    require(row >= 0 && row < matrix->blocks * LANES, "row");
    matrix->read(row, out);
    return 0;
  });
}

cf_engine* cf_engine_new(const cf_program* program, int32_t threads, const char* path) {
  return guarded<cf_engine*>(nullptr, [&] {
    require(threads >= 1 && program->rows >= 1, "threads");
    return new cf_engine(*program, threads, path_named(path));
  });
}

void cf_engine_free(cf_engine* engine) { delete engine; }

int32_t cf_engine_threads(const cf_engine* engine) { return engine->pool.threads(); }

cf_sequence* cf_sequence_new(const cf_engine* engine, int64_t capacity, const cf_tables* tables) {
  return guarded<cf_sequence*>(nullptr, [&] {
    require(capacity >= 16 && capacity % 16 == 0, "capacity");
    return new cf_sequence(*engine, engine->program, capacity, *tables);
  });
}

void cf_sequence_free(cf_sequence* sequence) { delete sequence; }

int64_t cf_sequence_length(const cf_sequence* sequence) { return sequence->length; }

int64_t cf_sequence_bytes(const cf_sequence* sequence) { return int64_t(sequence->memory.bytes()); }

int32_t cf_sequence_cut(cf_sequence* sequence, int64_t length) {
  return guarded(-1, [&] {
    require(length >= 0 && length <= sequence->length, "length");
    sequence->length = length;
    return 0;
  });
}

int32_t cf_sequence_copy(cf_sequence* to, const cf_sequence* from) {
  return guarded(-1, [&] {
    require(to->engine == from->engine && to->capacity == from->capacity, "sequence");
    to->take(*from);
    return 0;
  });
}

int32_t cf_run(cf_engine* engine, int32_t rows, const int32_t* ids, cf_sequence* const* sequences, int32_t wanted_count,
               const int32_t* wanted, float* logits) {
  return guarded(-1, [&] {
    check_step(*engine, rows, ids, sequences, wanted_count, wanted);
    engine->run(rows, ids, sequences, wanted_count, wanted, logits);
    return 0;
  });
}
}
