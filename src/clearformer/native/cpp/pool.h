// Threads that run one parallel region at a time and meet at barriers inside it.
//
// A token takes about a millisecond and some two hundred barriers, so a barrier spins; after a while it yields, so that
// more threads than processors still get on. Between regions threads spin briefly and then sleep.
#pragma once
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace clearformer {

class Barrier {
 public:
  explicit Barrier(int threads) : threads_(threads) {}
  void wait();

 private:
  const int threads_;
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<unsigned> round_{0};
};

class Pool {
 public:
  using Work = void (*)(void* context, int thread, Barrier& barrier);

  // As many threads as the system grants, at most `threads`; the caller is one of them.
  explicit Pool(int threads);
  ~Pool();
  int threads() const { return threads_; }
  // Every thread runs `work`; returns when all have. It must not throw.
  void run(Work work, void* context);
  // The same of a function of a thread's number and the barrier.
  template <class Each>
  void run(Each each) {
    run([](void* given, int thread, Barrier& barrier) { (*static_cast<Each*>(given))(thread, barrier); }, &each);
  }

 private:
  struct Crew;
  void start(int threads);
  static void serve(Crew& crew, int thread);

  int threads_ = 1;
  int process_ = 0;
  Crew* crew_ = nullptr;
};

}  // namespace clearformer
