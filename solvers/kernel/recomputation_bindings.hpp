#pragma once

#include <nanobind/nanobind.h>

namespace lowtide {

void bind_recomputation(nanobind::module_& module);

}  // namespace lowtide
