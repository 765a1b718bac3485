// How bindings call work that can take long: without the interpreter lock, under a deadline and a cancellation token.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#include "control.hpp"

namespace lowtide {

// What a limited call gives back besides its result: which limit struck.
enum class Stop { kNone, kTime, kCancelled };

template <typename Work>
Stop limited(const CancelToken* token, double seconds, Work&& work) {
  nanobind::gil_scoped_release release;
  Control control(token, seconds);
  try {
    std::forward<Work>(work)(control);
    return Stop::kNone;
  } catch (const Interrupted& interrupted) {
    return interrupted.cancelled ? Stop::kCancelled : Stop::kTime;
  }
}

}  // namespace lowtide
