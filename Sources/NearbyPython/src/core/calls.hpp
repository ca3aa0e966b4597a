// SPDX-License-Identifier: Apache-2.0
// Long calls of the library: other Python threads go on meanwhile, and Ctrl-C is heard.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "core.hpp"

/// How many calls without the interpreter's lock are under way with an object.
using CallCount = std::shared_ptr<std::atomic<int>>;

inline CallCount new_count() { return std::make_shared<std::atomic<int>>(0); }

/// A call on a thread of its own.
class Work {
 public:
  void end(Failure failure) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
    is_done_ = true;
    done_.notify_one();
  }

  /// Waits for a moment.
  bool is_done() {
    std::unique_lock lock(mutex_);
    return done_.wait_for(lock, std::chrono::milliseconds(20), [this] { return is_done_; });
  }

  /// How it ended, once it is done.
  const Failure &failure() const { return failure_; }

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  bool is_done_ = false;
  Failure failure_;
};

/// Calls a function of the library without the interpreter's lock, and raises the exception of its
/// failure, or that of a signal.
///
/// Python's handlers of signals run on its main thread only, and never within a call; so this
/// thread waits for another one that makes the call.
///
/// - Parameter call: Holds all that it needs. It goes on after a signal when there is no `stop`;
///   nobody hears of its result then.
/// - Parameter stop: Makes the call end, and is repeated until it has ended.
template <typename Call>
void unlocked(const CallCount &count, Call call, const std::function<void()> &stop = nullptr) {
  auto work = std::make_shared<Work>();
  *count += 1;
  std::thread([work, count, call = std::move(call)] {
    const nearby_status status = call();
    *count -= 1;
    work->end(Failure::newest(status));
  }).detach();
  bool is_interrupted = false;
  while (true) {
    {
      nb::gil_scoped_release release;
      if (work->is_done()) break;
    }
    if (!is_interrupted && PyErr_CheckSignals() != 0) is_interrupted = true;
    if (!is_interrupted) continue;
    if (!stop) break;
    stop();
  }
  if (is_interrupted) throw nb::python_error();
  work->failure().raise();
}
