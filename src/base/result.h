// Result<T>: a value or an Error. berth reports errors in this way only; it throws nothing.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace berth {

enum class ErrorCode {
  Usage,        // the request itself is wrong: bad flag, bad line, impossible need
  NotFound,     // a file, job or device that is not there
  Refused,      // understood, but not in this state or not by this user
  Io,           // the operating system said no
  Unavailable,  // the daemon, driver or cluster cannot be reached
  Timeout,
};

/// What went wrong, in words a user can act on.
struct Error {
  ErrorCode code = ErrorCode::Usage;
  std::string message;
};

/// The exit code of a command that ends with an error of this kind.
constexpr int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::Usage:
    case ErrorCode::NotFound:
      return 2;
    case ErrorCode::Unavailable:
      return 3;
    case ErrorCode::Timeout:
      return 124;
    case ErrorCode::Refused:
    case ErrorCode::Io:
      return 1;
  }
  return 1;
}

/// A subclass only to be [[nodiscard]], which tl::expected is not.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

using Failure = tl::unexpected<Error>;

inline Failure fail(ErrorCode code, std::string message) {
  return Failure(Error{code, std::move(message)});
}

/// "message: strerror(error_number)".
Failure fail_errno(std::string message, int error_number);

}  // namespace berth
