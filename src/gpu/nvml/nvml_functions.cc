#include "gpu/nvml/nvml_functions.h"

#include <dlfcn.h>

namespace berth {

NvmlHandle::~NvmlHandle() { ::dlclose(library_); }

void* NvmlHandle::find(const char* symbol) const { return ::dlsym(library_, symbol); }

}  // namespace berth
