#include "base/result.h"

#include <cstring>

namespace berth {

Failure fail_errno(std::string message, int error_number) {
  message += ": ";
  message += strerrordesc_np(error_number);
  return fail(ErrorCode::Io, std::move(message));
}

}  // namespace berth
