#include "pool.h"

#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <system_error>

namespace clearformer {

namespace {

constexpr int SPINS_BEFORE_YIELD = 4000;
// A partner that does not come was sent from its core by others' work: waiting busily would take from it what is left.
constexpr int SPINS_BEFORE_NAP = 4200;
constexpr std::chrono::microseconds NAP{50};
constexpr int SPINS_BEFORE_SLEEP = 20000;

inline void rest() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

void Barrier::wait() {
  const unsigned round = round_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
    arrived_.store(0, std::memory_order_relaxed);
    round_.store(round + 1, std::memory_order_release);
    return;
  }
  for (int spins = 0; round_.load(std::memory_order_acquire) == round; ++spins) {
    if (spins < SPINS_BEFORE_YIELD) rest();
    else if (spins < SPINS_BEFORE_NAP) sched_yield();
    else std::this_thread::sleep_for(NAP);
  }
}

// What the threads share. A forked child finds it as it was and its threads gone, so it leaves it behind.
struct Pool::Crew {
  std::mutex mutex;
  std::condition_variable called;
  std::atomic<unsigned> call{0};
  std::atomic<int> asleep{0};
  std::atomic<bool> closing{false};
  Work work = nullptr;
  void* context = nullptr;
  std::unique_ptr<Barrier> barrier;
  std::vector<std::thread> threads;
};

Pool::Pool(int threads) { start(threads); }

void Pool::start(int threads) {
  crew_ = new Crew;
  process_ = getpid();
  // A thread takes part from the first call on: until then the number may still shrink.
  try {
    for (int thread = 1; thread < threads; ++thread) crew_->threads.emplace_back(serve, std::ref(*crew_), thread);
  } catch (const std::system_error&) {
  }
  threads_ = int(crew_->threads.size()) + 1;
  crew_->barrier = std::make_unique<Barrier>(threads_);
}

Pool::~Pool() {
  if (process_ != getpid()) return;
  {
    std::lock_guard<std::mutex> lock(crew_->mutex);
    crew_->closing.store(true);
    crew_->call.fetch_add(1);
  }
  crew_->called.notify_all();
  for (std::thread& thread : crew_->threads) thread.join();
  delete crew_;
}

void Pool::run(Work work, void* context) {
  if (process_ != getpid()) start(threads_);
  crew_->work = work;
  crew_->context = context;
  crew_->call.fetch_add(1);
  if (crew_->asleep.load()) {
    // Taking the lock orders this call before or after a thread's decision to sleep, never in between.
    { std::lock_guard<std::mutex> lock(crew_->mutex); }
    crew_->called.notify_all();
  }
  work(context, 0, *crew_->barrier);
  crew_->barrier->wait();
}

void Pool::serve(Crew& crew, int thread) {
  for (unsigned seen = 0;; ++seen) {
    int spins = 0;
    while (crew.call.load() == seen && ++spins < SPINS_BEFORE_SLEEP) rest();
    if (crew.call.load() == seen) {
      std::unique_lock<std::mutex> lock(crew.mutex);
      crew.asleep.fetch_add(1);
      crew.called.wait(lock, [&] { return crew.call.load() != seen; });
      crew.asleep.fetch_sub(1);
    }
    if (crew.closing.load()) return;
    crew.work(crew.context, thread, *crew.barrier);
    crew.barrier->wait();
  }
}

}  // namespace clearformer
