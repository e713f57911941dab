// What Python sees: plain structs and functions, mirrored field by field in `structures.py`.
//
// Pointers in the structs belong to the caller and must live as long as the engine. Float arrays that a product or a
// norm reads are padded with zeros to a multiple of 16. A call that fails says why through `cf_failure`.
#pragma once
#include <cstdint>

#define CF_ABI 3

#pragma GCC visibility push(default)
extern "C" {

// CF_INT8_FINE holds CF_INT8's weights; its products take activations in two bytes instead of one.
enum cf_format { CF_FLOAT32 = 0, CF_BFLOAT16 = 1, CF_INT8 = 2, CF_INT4 = 3, CF_INT8_FINE = 4 };
enum cf_source { CF_FROM_F32 = 0, CF_FROM_BF16 = 1, CF_FROM_F16 = 2, CF_FROM_Q4_0 = 3, CF_FROM_Q4_1 = 4, CF_FROM_Q8_0 = 5 };
enum cf_norm_kind { CF_NO_NORM = 0, CF_RMS = 1, CF_LAYER = 2 };
enum cf_activation { CF_RELU = 0, CF_GELU = 1, CF_GELU_TANH = 2, CF_QUICK_GELU = 3, CF_SILU = 4, CF_TANH = 5, CF_IDENTITY = 6 };
enum cf_placement { CF_PRE = 0, CF_POST = 1, CF_BRANCH = 2, CF_SANDWICH = 3, CF_PARALLEL = 4, CF_PARALLEL_SHARED = 5 };
enum cf_router { CF_SOFTMAX_BEFORE = 0, CF_SOFTMAX_AFTER = 1, CF_SIGMOID = 2 };

struct cf_matrix;
struct cf_engine;
struct cf_sequence;

// x / √(mean(x²) + eps) · weight, or (x − mean) / √(variance + eps) · weight + bias. Null arrays are left out.
struct cf_norm {
  int32_t kind;
  float eps;
  const float* weight;
  const float* bias;
};

struct cf_linear {
  const cf_matrix* matrix;
  const float* bias;
};

// A gated network's `up` holds blocks of 16 rows in turn, one of the gate and one of the other half.
struct cf_feedforward {
  int32_t width;
  int32_t gated;
  int32_t activation;
  int32_t unused;
  cf_linear up;
  cf_linear down;
};

// `count` experts of which a token reads `active`; a plain network is one expert without a router.
struct cf_mixture {
  int32_t count;
  int32_t active;
  int32_t router_kind;
  int32_t normalise;
  int32_t groups;
  int32_t groups_kept;
  int32_t best_two;
  float scale;
  cf_linear router;
  const float* selection_bias;
  const cf_feedforward* experts;
  const cf_feedforward* shared;
  cf_linear shared_gate;
};

// `joint` gives queries, keys and values, one after the other. `window` 0: all of the past. `rotary` and `bias` are
// numbers of a sequence's tables, −1 for none. `score_cap` 0: none.
struct cf_attention {
  int32_t heads;
  int32_t kv_heads;
  int32_t key_width;
  int32_t value_width;
  int32_t window;
  int32_t norm_over_projection;
  int32_t rotary;
  int32_t rotary_width;
  int32_t rotary_interleaved;
  int32_t bias;
  float scale;
  float score_cap;
  cf_norm query_norm;
  cf_norm key_norm;
  cf_linear joint;
  cf_linear output;
};

struct cf_layer {
  int32_t placement;
  int32_t unused;
  cf_norm attention_norm;
  cf_norm attention_output_norm;
  cf_norm feedforward_norm;
  cf_norm feedforward_output_norm;
  cf_attention attention;
  cf_mixture feedforward;
};

// `segment` is added to every token (segment 0's row), null for none; `transform` comes before the logits.
struct cf_program {
  int32_t width;
  int32_t vocabulary;
  int32_t layer_count;
  int32_t transform_activation;
  int32_t half_cache;
  int32_t rows;
  float embed_scale;
  float hidden_scale;
  float logit_cap;
  int32_t unused;
  const cf_matrix* embed;
  const float* segment;
  cf_norm embed_norm;
  const cf_layer* layers;
  cf_norm final_norm;
  cf_linear transform;
  cf_norm transform_norm;
  cf_linear head;
};

// What a position means, for one sequence: `inputs` holds a row of the model's width a position (null for none);
// rotary table t a row of cosines and one of sines a position; bias table t, for each head, `capacity` + 16 numbers,
// that of distance d at capacity − 1 − d.
struct cf_tables {
  const float* inputs;
  const float* const* rotary;
  const float* const* bias;
};

int32_t cf_abi();
// sizeof of the structs above, in their order: a library built from other sources is refused by them too.
int32_t cf_sizes(int32_t* sizes, int32_t room);
// The architecture that the library was built for.
const char* cf_architecture();
// The instruction sets that it holds and this processor has, the fastest first: a space between.
const char* cf_paths();
const char* cf_failure();

cf_matrix* cf_matrix_new(int32_t format, int64_t rows, int64_t columns);
void cf_matrix_free(cf_matrix* matrix);
int64_t cf_matrix_bytes(const cf_matrix* matrix);
// Source row i becomes row first + i / run · stride + i % run; of many rows, at most `threads` threads take a part each.
// Returns 0, or −1 after a failure.
int32_t cf_matrix_fill(cf_matrix* matrix, int32_t source, const void* data, int64_t rows, int64_t first, int64_t run, int64_t stride,
                       int32_t threads);
// Row `row` as float32: what a product computes with.
int32_t cf_matrix_row(const cf_matrix* matrix, int64_t row, float* out);

cf_engine* cf_engine_new(const cf_program* program, int32_t threads, const char* path);
void cf_engine_free(cf_engine* engine);
int32_t cf_engine_threads(const cf_engine* engine);
// `capacity` is a multiple of 16.
cf_sequence* cf_sequence_new(const cf_engine* engine, int64_t capacity, const cf_tables* tables);
void cf_sequence_free(cf_sequence* sequence);
int64_t cf_sequence_length(const cf_sequence* sequence);
int64_t cf_sequence_bytes(const cf_sequence* sequence);
// Forget all but the first `length` tokens.
int32_t cf_sequence_cut(cf_sequence* sequence, int64_t length);
int32_t cf_sequence_copy(cf_sequence* to, const cf_sequence* from);
// Row i appends token ids[i] to sequences[i]; rows of one sequence stand together. `logits` takes a row of the padded
// vocabulary for each of the `wanted` rows. Nothing is appended when it fails.
int32_t cf_run(cf_engine* engine, int32_t rows, const int32_t* ids, cf_sequence* const* sequences, int32_t wanted_count,
               const int32_t* wanted, float* logits);
}
#pragma GCC visibility pop
