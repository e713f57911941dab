// Which of the instruction sets that were compiled in this processor has.
#include "engine.h"

namespace clearformer {

#if defined(__x86_64__)
void walk_avx512(const Step& step, int thread, Barrier& barrier);
void walk_avx2(const Step& step, int thread, Barrier& barrier);
#endif
void walk_plain(const Step& step, int thread, Barrier& barrier);

const Path PATHS[] = {
#if defined(__x86_64__)
   {"avx512",
    [] {
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni");
    },
    walk_avx512},
   {"avx2", [] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"); },
    walk_avx2},
#endif
   {"plain", [] { return true; }, walk_plain},
};
const int PATH_COUNT = sizeof PATHS / sizeof PATHS[0];

}  // namespace clearformer
