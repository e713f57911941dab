// Pages from the system: zero from the start, taken only once they are written, and large where it can.
#pragma once
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace clearformer {

class Memory {
 public:
  Memory() = default;
  explicit Memory(size_t bytes) : bytes_(bytes) {
    if (!bytes) return;
    void* found = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<char*>(found);
#ifdef MADV_HUGEPAGE
    if (bytes >= size_t(4) << 20) madvise(data_, bytes, MADV_HUGEPAGE);
#endif
  }
  Memory(Memory&& other) noexcept { *this = std::move(other); }
  Memory& operator=(Memory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    if (data_) munmap(data_, bytes_);
  }

  char* data() const { return data_; }
  template <class T>
  T* as() const { return reinterpret_cast<T*>(data_); }
  size_t bytes() const { return bytes_; }

 private:
  char* data_ = nullptr;
  size_t bytes_ = 0;
};

// Zeroed memory for many weights side by side: large pages hold several, and are given back with the last of them.
class Piece {
 public:
  Piece() = default;
  explicit Piece(size_t bytes) : bytes_(bytes) {
    constexpr size_t CHUNK = size_t(64) << 20, PAGE = 4096;
    static std::mutex mutex;
    static std::weak_ptr<Memory> latest;
    static size_t used = 0;
    const size_t taken = (bytes + PAGE - 1) / PAGE * PAGE;
    std::lock_guard<std::mutex> lock(mutex);
    chunk_ = latest.lock();
    if (!chunk_ || used + taken > chunk_->bytes()) {
      latest = chunk_ = std::make_shared<Memory>(std::max(CHUNK, taken));
      used = 0;
    }
    data_ = chunk_->data() + used;
    used += taken;
  }

  char* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<Memory> chunk_;
  char* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace clearformer
