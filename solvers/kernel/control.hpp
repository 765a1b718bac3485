// Deadlines and cancellation: every long loop of the kernel calls Control::check().
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace lowtide {

// Thrown by Control::check(); whoever started the work turns it into "best so far".
struct Interrupted {
  bool cancelled;  // false: the deadline struck
};

// Set from any thread; shared by the caller and the kernel.
class CancelToken {
 public:
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> cancelled_{false};
};

class Control {
 public:
  using Clock = std::chrono::steady_clock;

  Control(const CancelToken* token, double seconds_left)
      : token_(token),
        deadline_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds_left))) {}

  // Cheap enough for inner loops: the clock is read once per kWorkBetweenLooks units of work, a unit being a node or an op walked
  // (some tens of nanoseconds), so that a deadline or a cancellation is noticed within milliseconds.
  void check(std::uint32_t work = 16) {
    work_ += work;
    if (work_ >= kWorkBetweenLooks) {
      work_ = 0;
      check_now();
    }
  }

  void check_now() const {
    if (token_ != nullptr && token_->cancelled()) throw Interrupted{true};
    if (Clock::now() >= deadline_) throw Interrupted{false};
  }

 private:
  static constexpr std::uint32_t kWorkBetweenLooks = 8192;
  const CancelToken* token_;
  Clock::time_point deadline_;
  std::uint32_t work_ = 0;
};

}  // namespace lowtide
