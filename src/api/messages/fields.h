// Fields: a message that is an answer or an event, never a request, names its fields once, in a
// function that both writes and reads it:
//
//   template <class Io>
//   void fields(Io& io, In<Io, WaitReply>& reply) {
//     io.version();
//     io.required("failed", reply.failed);
//   }
//
// Reading is for answers and events of berth's own daemon, which may be older or newer than this
// program. An unknown field is ignored, a missing one keeps its usual value unless it is required,
// and one of the wrong kind is an error. (Requests come from any client and are read more strictly,
// by FieldReader.) Heavy: only for the files that define messages.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "api/json_writer.h"
#include "base/result.h"

namespace berth {

/// A message that is written (and then const) or read.
template <class Io, class T>
using In = std::conditional_t<Io::kReads, T, const T>;

class FieldsOut {
 public:
  static constexpr bool kReads = false;

  explicit FieldsOut(JsonWriter& out) : out_(out) {}

  JsonWriter& out() { return out_; }

  void version() { out_.field("version", 1); }
  template <class T>
  void required(const char* key, const T& value) {
    out_.field(key, value);
  }
  template <class T>
  void field(const char* key, const T& value) {
    out_.field(key, value);
  }
  /// With `decimals` digits after the point.
  void field(const char* key, double value, int decimals) { out_.field(key, value, decimals); }
  /// null if the value says nothing: an empty text, or no value.
  template <class T>
  void or_null(const char* key, const T& value) {
    says_something(value) ? out_.field(key, value) : out_.field(key, nullptr);
  }
  void or_null(const char* key, const std::optional<double>& value, int decimals) {
    value ? out_.field(key, *value, decimals) : out_.field(key, nullptr);
  }
  /// Omitted if the value says nothing: an empty text, 0, false, or no value.
  template <class T>
  void or_nothing(const char* key, const T& value) {
    if (says_something(value)) {
      out_.field(key, value);
    }
  }
  /// A list of numbers, with null for unknown ones.
  void numbers(const char* key, const std::vector<std::optional<double>>& values, int decimals) {
    out_.array(key, [&] {
      for (const std::optional<double>& value : values) {
        value ? out_.fixed(*value, decimals) : out_.value(nullptr);
      }
    });
  }
  void numbers(const char* key, const std::vector<double>& values, int decimals) {
    out_.array(key, [&] {
      for (const double value : values) {
        out_.fixed(value, decimals);
      }
    });
  }
  /// Puts the fields of `part` among those of the whole message.
  template <class T>
  void among(const T& part) {
    fields(*this, part);
  }

 private:
  static bool says_something(const std::string& text) { return !text.empty(); }
  static bool says_something(Bytes size) { return size > Bytes{}; }
  template <class T>
  static bool says_something(const std::vector<T>& items) {
    return !items.empty();
  }
  template <class T>
  static bool says_something(const std::optional<T>& value) {
    return value.has_value();
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  static bool says_something(T value) { return value != T{}; }

  JsonWriter& out_;
};

/// Keeps the first error.
class FieldsIn {
 public:
  static constexpr bool kReads = true;
  using Json = nlohmann::ordered_json;

  explicit FieldsIn(const Json& json) : json_(json) {}

  const Json& json() const { return json_; }
  const std::string& error() const { return error_; }  // empty: nothing is wrong

  void version() {}
  template <class T>
  void required(const char* key, T& out) {
    if (const Json* found = find(key)) {
      take(key, *found, out);
    } else {
      wrong(fmt::format("it has no {}", key));
    }
  }
  template <class T>
  void field(const char* key, T& out, int /*decimals*/ = 0) {
    if (const Json* found = find(key)) {
      take(key, *found, out);
    }
  }
  template <class T>
  void or_null(const char* key, T& out, int /*decimals*/ = 0) {
    if (const Json* found = find(key); found != nullptr && !found->is_null()) {
      take(key, *found, out);
    }
  }
  template <class T>
  void or_nothing(const char* key, T& out) {
    field(key, out);
  }
  template <class T>
  void numbers(const char* key, std::vector<T>& out, int /*decimals*/) {
    field(key, out);
  }
  template <class T>
  void among(T& part) {
    fields(*this, part);
  }

  void wrong(std::string problem) {
    if (error_.empty()) {
      error_ = std::move(problem);
    }
  }

  /// Returns an empty text, or what is wrong with the value.
  static std::string read(const Json& json, bool& out) {
    return set(json.is_boolean(), "true or false", [&] { out = json.get<bool>(); });
  }
  static std::string read(const Json& json, double& out) {
    return set(json.is_number(), "a number", [&] { out = json.get<double>(); });
  }
  static std::string read(const Json& json, std::string& out) {
    return set(json.is_string(), "a text", [&] { out = json.get<std::string>(); });
  }
  template <std::integral T>
  static std::string read(const Json& json, T& out) {
    // A number that is not below 0 is unsigned, also one above the range of int64.
    const bool fits =
        json.is_number_unsigned()
            ? json.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<T>::max())
            : json.is_number_integer() && std::is_signed_v<T> &&
                  json.get<std::int64_t>() >=
                      static_cast<std::int64_t>(std::numeric_limits<T>::min());
    return set(fits, std::is_signed_v<T> ? "a whole number" : "a whole number from 0",
               [&] { out = json.get<T>(); });
  }
  static std::string read(const Json& json, Bytes& out) { return read(json, out.count); }
  static std::string read(const Json& json, JobId& out) { return read(json, out.value); }
  /// null means no value.
  template <class T>
  static std::string read(const Json& json, std::optional<T>& out) {
    out.reset();
    return json.is_null() ? "" : read(json, out.emplace());
  }
  template <class T>
  static std::string read(const Json& json, std::vector<T>& out) {
    out.clear();
    std::string problem = set(json.is_array(), "a list", [] {});
    for (auto item = json.begin(); problem.empty() && item != json.end(); ++item) {
      problem = read(*item, out.emplace_back());
    }
    return problem;
  }
  template <class T>
  static std::string read(const Json& json, std::map<std::string, T>& out) {
    out.clear();
    std::string problem = set(json.is_object(), "an object", [] {});
    for (auto item = json.begin(); problem.empty() && item != json.end(); ++item) {
      problem = read(item.value(), out[item.key()]);
    }
    return problem;
  }
  /// A message within a message.
  template <class T>
  requires std::is_class_v<T>
  static std::string read(const Json& json, T& out) {
    if (!json.is_object()) {
      return "must be an object";
    }
    FieldsIn io(json);
    fields(io, out);
    return io.error().empty() ? "" : ": " + io.error();
  }

 private:
  template <class Action>
  static std::string set(bool fits, std::string_view wanted, const Action& action) {
    if (fits) {
      action();
      return "";
    }
    return fmt::format("must be {}", wanted);
  }

  const Json* find(const char* key) const {
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }

  template <class T>
  void take(const char* key, const Json& json, T& out) {
    if (const std::string problem = read(json, out); !problem.empty()) {
      wrong(fmt::format("{}{}{}", key, problem.starts_with(':') ? "" : " ", problem));
    }
  }

  const Json& json_;
  std::string error_;
};

/// A message within a message.
template <class T>
requires requires(FieldsOut& io, const T& message) { fields(io, message); }
void write(JsonWriter& out, const T& message) {
  out.object([&] {
    FieldsOut io(out);
    fields(io, message);
  });
}

template <class T>
std::string written(const T& message) {
  JsonWriter out;
  write(out, message);
  return out.take();
}

template <class T>
Result<T> read_message(std::string_view text) {
  const FieldsIn::Json json = FieldsIn::Json::parse(text, nullptr, false);
  std::string problem = json.is_object() ? "" : "it is not a JSON object";
  T message;
  if (problem.empty()) {
    FieldsIn io(json);
    fields(io, message);
    problem = io.error();
  }
  if (!problem.empty()) {
    return fail(ErrorCode::Unavailable, "the daemon's answer makes no sense: " + problem);
  }
  return message;
}

}  // namespace berth
