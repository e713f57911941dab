// Shapes drawn at random through the kernels' C functions, on every instruction set: what the sanitizers watch.
//
// Results are held against each other, not against an outside truth (the tests in Python do that): a row alone equals the
// row in a batch and in a longer call, one thread equals several, and a forked child equals its parent.
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "abi.h"

namespace {

std::mt19937 random_numbers(1);

int draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_numbers); }

template <class T>
T one_of(std::initializer_list<T> choices) {
  return choices.begin()[draw(0, int(choices.size()) - 1)];
}

void require(bool held, const char* what) {
  if (held) return;
  std::fprintf(stderr, "FAILED: %s (%s)\n", what, cf_failure());
  std::exit(1);
}

// Everything that a program's pointers point to.
struct Model {
  std::vector<std::unique_ptr<std::vector<float>>> floats;
  std::vector<cf_matrix*> matrices;
  std::vector<cf_layer> layers;
  std::vector<std::unique_ptr<std::vector<cf_feedforward>>> networks;
  std::vector<const float*> rotary, bias;
  const float* inputs = nullptr;
  cf_program program{};
  int capacity = 0;

  ~Model() {
    for (cf_matrix* matrix : matrices) cf_matrix_free(matrix);
  }

  const float* numbers(size_t count, float scale) {
    floats.push_back(std::make_unique<std::vector<float>>((count + 31) / 16 * 16));
    std::normal_distribution<float> normal(0, scale);
    for (size_t at = 0; at < count; ++at) (*floats.back())[at] = normal(random_numbers);
    return floats.back()->data();
  }

  // Filled in one go, or `woven`: sixteen rows of each of two parts in turn.
  cf_linear linear(int format, int rows, int columns, bool biased, bool woven = false) {
    const int packed = woven ? (rows + 15) / 16 * 32 : rows;
    cf_matrix* matrix = cf_matrix_new(format, packed, columns);
    require(matrix, "cf_matrix_new");
    matrices.push_back(matrix);
    const float scale = 1 / std::sqrt(float(columns));
    for (int part = 0; part < (woven ? 2 : 1); ++part) {
      const float* data = numbers(size_t(rows) * columns, scale);
      const int run = woven ? 16 : rows;
      require(cf_matrix_fill(matrix, CF_FROM_F32, data, rows, part * 16, run, 2 * run, draw(1, 3)) == 0, "cf_matrix_fill");
    }
    return {matrix, biased ? numbers(packed, 0.1f) : nullptr};
  }

  cf_norm norm(int width) {
    const int kind = draw(0, 2);
    return {kind, 1e-5f, kind && draw(0, 1) ? numbers(width, 1) : nullptr, kind == CF_LAYER ? numbers(width, 1) : nullptr};
  }

  const cf_feedforward* network(int format, int width, int wide, int count, bool gated) {
    networks.push_back(std::make_unique<std::vector<cf_feedforward>>());
    const int activation = draw(0, 5);
    for (int each = 0; each < count; ++each)
      networks.back()->push_back({wide, gated, activation, 0, linear(format, wide, width, draw(0, 1), gated), linear(format, width, wide, draw(0, 1))});
    return networks.back()->data();
  }

  cf_mixture mixture(int format, int width) {
    cf_mixture made{};
    const bool experts = draw(0, 3) == 0;
    made.count = experts ? 4 : 1, made.active = experts ? draw(1, 3) : 1;
    made.experts = network(format, width, draw(1, 80), made.count, draw(0, 1));
    if (!experts) return made;
    made.router_kind = draw(0, 2), made.normalise = draw(0, 1), made.scale = 1;
    if (draw(0, 1) && made.active <= 2) made.groups = 2, made.groups_kept = 1;
    made.router = linear(CF_FLOAT32, 4, width, false);
    if (draw(0, 1)) made.shared = network(format, width, draw(1, 80), 1, draw(0, 1));
    if (made.shared && draw(0, 1)) made.shared_gate = linear(CF_FLOAT32, 1, width, false);
    return made;
  }

  cf_attention attention(int format, int width) {
    cf_attention made{};
    made.kv_heads = draw(1, 3), made.heads = made.kv_heads * draw(1, 11);
    made.key_width = 2 * draw(1, 20), made.value_width = draw(1, 40);
    made.window = one_of({0, 0, 1, 7, 300});
    made.scale = 0.3f, made.score_cap = one_of({0.0f, 5.0f});
    made.rotary = -1, made.bias = -1;
    if (draw(0, 1)) {
      made.rotary = int(rotary.size()), made.rotary_width = 2 * draw(1, made.key_width / 2), made.rotary_interleaved = draw(0, 1);
      rotary.push_back(numbers(size_t(capacity) * made.rotary_width, 1));
    } else if (draw(0, 1)) {
      made.bias = int(bias.size());
      bias.push_back(numbers(size_t(made.heads) * (capacity + 16), 1));
    }
    made.norm_over_projection = draw(0, 1);
    if (draw(0, 1)) {
      const int times = made.norm_over_projection;
      made.query_norm = norm(made.key_width * (times ? made.heads : 1));
      made.key_norm = norm(made.key_width * (times ? made.kv_heads : 1));
    }
    const int joint = format == CF_INT8 ? one_of({CF_INT8, CF_INT8_FINE}) : format;
    made.joint = linear(joint, (made.heads + made.kv_heads) * made.key_width + made.kv_heads * made.value_width, width, draw(0, 1));
    made.output = linear(format, width, made.heads * made.value_width, draw(0, 1));
    return made;
  }

  Model(int format, int room) {
    capacity = (room + 15) / 16 * 16;
    const int width = draw(1, 90), vocabulary = draw(1, 70), count = draw(1, 3);
    for (int layer = 0; layer < count; ++layer)
      layers.push_back({draw(0, 5), 0, norm(width), norm(width), norm(width), norm(width), attention(format, width), mixture(format, width)});
    program.width = width, program.vocabulary = vocabulary, program.layer_count = count;
    program.half_cache = format != CF_FLOAT32, program.rows = 40;
    program.embed_scale = 1, program.hidden_scale = one_of({1.0f, 0.5f}), program.logit_cap = one_of({0.0f, 3.0f});
    const cf_linear table = linear(format >= CF_INT8 ? CF_INT8_FINE : format, vocabulary, width, false);
    program.embed = table.matrix;
    if (draw(0, 1)) program.segment = numbers(width, 1);
    if (draw(0, 1)) inputs = numbers(size_t(capacity) * width, 1);
    program.embed_norm = norm(width), program.layers = layers.data(), program.final_norm = norm(width);
    if (draw(0, 1)) program.transform = linear(format, width, width, true), program.transform_activation = draw(0, 6), program.transform_norm = norm(width);
    program.head = {table.matrix, draw(0, 1) ? numbers(vocabulary, 1) : nullptr};
  }
};

struct Engine {
  const Model& model;
  cf_engine* engine;

  Engine(const Model& model, int threads, const std::string& path) : model(model), engine(cf_engine_new(&model.program, threads, path.c_str())) {
    require(engine, "cf_engine_new");
  }
  ~Engine() { cf_engine_free(engine); }

  cf_sequence* sequence() const {
    const cf_tables tables{model.inputs, model.rotary.data(), model.bias.data()};
    cf_sequence* made = cf_sequence_new(engine, model.capacity, &tables);
    require(made, "cf_sequence_new");
    return made;
  }

  // Logits of every row.
  std::vector<float> run(const std::vector<int32_t>& ids, const std::vector<cf_sequence*>& sequences) const {
    const int rows = int(ids.size()), padded = (model.program.vocabulary + 15) / 16 * 16;
    std::vector<int32_t> wanted(rows);
    for (int row = 0; row < rows; ++row) wanted[row] = row;
    std::vector<float> logits(size_t(rows) * padded);
    require(cf_run(engine, rows, ids.data(), sequences.data(), rows, wanted.data(), logits.data()) == 0, "cf_run");
    return logits;
  }

  // The text read `part` tokens at a time; the last row's logits.
  std::vector<float> read(const std::vector<int32_t>& ids, int part) const {
    cf_sequence* text = sequence();
    std::vector<float> logits;
    for (size_t start = 0; start < ids.size(); start += part) {
      const std::vector<int32_t> some(ids.begin() + start, ids.begin() + std::min(ids.size(), start + part));
      logits = run(some, std::vector<cf_sequence*>(some.size(), text));
    }
    cf_sequence_free(text);
    const int padded = (model.program.vocabulary + 15) / 16 * 16;
    return {logits.end() - padded, logits.end() - padded + model.program.vocabulary};
  }
};

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  for (size_t at = 0; at < a.size(); ++at)
    if (!(a[at] == b[at] || (std::isnan(a[at]) && std::isnan(b[at])))) return false;
  return a.size() == b.size();
}

// The child of a fork has none of its parent's threads.
void in_a_child(const Engine& engine, const std::vector<int32_t>& ids, const std::vector<float>& expected) {
  const pid_t child = fork();
  if (child == 0) _exit(same(engine.read(ids, 40), expected) ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a forked child differs");
}

void one(const std::string& path, bool forks) {
  const int format = draw(0, 3), length = one_of({1, draw(2, 40), draw(41, 300), draw(1, 12) == 1 ? 2000 : 17});
  const Model model(format, length + 1);
  std::vector<int32_t> ids(length);
  for (int32_t& id : ids) id = draw(0, model.program.vocabulary - 1);
  const Engine lone(model, 1, path), crew(model, draw(2, 5), path);
  const std::vector<float> expected = lone.read(ids, 40);
  require(same(crew.read(ids, 40), expected), "threads differ");
  require(same(crew.read(ids, draw(1, 33)), expected), "parts differ");

  // As many texts as rows, all of this one: each row is what the text gives alone.
  const int rows = draw(1, 33);
  std::vector<cf_sequence*> texts;
  for (int row = 0; row < rows; ++row) texts.push_back(crew.sequence());
  std::vector<float> logits;
  for (int at = 0; at < std::min(length, 20); ++at) logits = crew.run(std::vector<int32_t>(rows, ids[at]), texts);
  const std::vector<float> alone = lone.read({ids.begin(), ids.begin() + std::min(length, 20)}, 40);
  const size_t padded = logits.size() / rows;
  for (int row = 0; row < rows; ++row)
    require(same({logits.begin() + row * padded, logits.begin() + row * padded + model.program.vocabulary}, alone), "rows differ");
  require(cf_sequence_copy(texts[0], texts[rows - 1]) == 0 && cf_sequence_cut(texts[0], 0) == 0, "copy and cut");

  // What is refused leaves everything as it was.
  const int32_t beyond = model.program.vocabulary, wanted = 0;
  require(cf_run(crew.engine, 1, &beyond, texts.data(), 1, &wanted, logits.data()) < 0, "an id past the table");
  require(cf_run(crew.engine, 41, ids.data(), texts.data(), 0, &wanted, logits.data()) < 0, "too many rows");
  require(same(crew.read(ids, 40), expected), "a refused call left a trace");
  for (cf_sequence* text : texts) cf_sequence_free(text);
  if (forks) in_a_child(crew, ids, expected);

  // Two engines at once, and one engine from two threads.
  std::vector<float> found[3];
  std::thread first([&] { found[0] = crew.read(ids, 40); }), second([&] { found[1] = crew.read(ids, 40); });
  found[2] = lone.read(ids, 40);
  first.join(), second.join();
  for (const std::vector<float>& each : found) require(same(each, expected), "concurrent calls differ");
}

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 20;
  const bool forks = count > 2 && std::string(arguments[2]) == "forks";
  std::istringstream names(cf_paths());
  std::vector<std::string> paths;
  for (std::string path; names >> path;) paths.push_back(path);
  for (int round = 0; round < rounds; ++round)
    for (const std::string& path : paths) one(path, forks);
  std::printf("%d rounds on %s\n", rounds, cf_paths());
}
