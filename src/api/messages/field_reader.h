// FieldReader: reads the fields of a request, each within its bounds. Requests come from any
// client, so an unknown field, or one of the wrong kind, is an error that names it. Heavy: only for
// the files that read messages.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/messages/json.h"
#include "base/nearest.h"
#include "base/time.h"

namespace berth {

/// Fields of a submitted job that are not part of its description.
inline constexpr std::array<std::string_view, 2> kOnlySubmitted = {"array", "follows"};

/// Keeps the first error, so that reading a field stays one line.
class FieldReader {
 public:
  explicit FieldReader(const Json& json) : json_(json) {}

  const Error* error() const { return error_ ? &*error_ : nullptr; }

  void text(const char* key, std::string& out) {
    if (const Json* field = find(key)) {
      if (is_text(*field)) {
        out = field->get<std::string>();
      } else {
        wrong(key, "a text");
      }
    }
  }

  template <class T>
  void number(const char* key, T& out, std::int64_t least, std::int64_t most) {
    if (const Json* field = find(key)) {
      // A number above the range of int64 would come out below 0.
      const bool fits = field->is_number_integer() &&
                        !(field->is_number_unsigned() && field->get<std::uint64_t>() > kMostSigned);
      if (!fits || field->get<std::int64_t>() < least || field->get<std::int64_t>() > most) {
        wrong(key, fmt::format("a whole number from {} to {}", least, most));
      } else {
        out = static_cast<T>(field->get<std::int64_t>());
      }
    }
  }

  void seconds(const char* key, Duration& out) {
    constexpr double kMost = 9e9;
    if (const Json* field = find(key)) {
      if (!field->is_number() || field->get<double>() < 0 || field->get<double>() > kMost) {
        wrong(key, "a number of seconds");
      } else {
        out = Duration(std::llround(field->get<double>() * 1e9));
      }
    }
  }

  void flag(const char* key, bool& out) {
    if (const Json* field = find(key)) {
      if (field->is_boolean()) {
        out = field->get<bool>();
      } else {
        wrong(key, "true or false");
      }
    }
  }

  void texts(const char* key, std::vector<std::string>& out) {
    if (const Json* field = find(key)) {
      out.clear();
      if (!field->is_array()) {
        return wrong(key, "a list of texts");
      }
      for (const Json& item : *field) {
        if (!is_text(item)) {
          return wrong(key, "a list of texts");
        }
        out.push_back(item.get<std::string>());
      }
    }
  }

  /// Texts that are not empty.
  void names(const char* key, std::vector<std::string>& out) {
    texts(key, out);
    if (std::find(out.begin(), out.end(), "") != out.end()) {
      wrong(key, "a list of names");
    }
  }

  void pairs(const char* key, std::map<std::string, std::string>& out) {
    if (const Json* field = find(key)) {
      out.clear();
      if (!field->is_object()) {
        return wrong(key, "an object of texts");
      }
      for (const auto& [name, value] : field->items()) {
        if (!is_text(value) || name.find('\0') != name.npos) {
          return wrong(key, "an object of texts");
        }
        out[name] = value.get<std::string>();
      }
    }
  }

  /// Call it after all fields were read. A field that was not asked for is an error, so that
  /// nothing the client meant is ignored. `elsewhere` is the number of fields that other code
  /// reads.
  void check_no_others(std::size_t elsewhere) {
    if (error_ || found_ + elsewhere == json_.size()) {
      return;
    }
    for (const auto& [name, value] : json_.items()) {
      if (std::find(asked_.begin(), asked_.end(), name) == asked_.end() &&
          std::find(kOnlySubmitted.begin(), kOnlySubmitted.end(), name) == kOnlySubmitted.end()) {
        const std::string_view meant = nearest(name, std::span(asked_.data(), count_));
        error_ = Error{ErrorCode::Usage,
                       fmt::format("there is no field {}{}", shown(name),
                                   meant.empty() ? "" : fmt::format(": is it {}?", meant))};
        return;
      }
    }
    error_ = Error{ErrorCode::Usage, "array and follows belong to the jobs themselves"};
  }

  void wrong(const char* key, std::string_view wanted) {
    if (!error_) {
      error_ = Error{ErrorCode::Usage, fmt::format("{} must be {}", key, wanted)};
    }
  }

 private:
  static constexpr std::uint64_t kMostSigned = std::numeric_limits<std::int64_t>::max();

  /// A NUL would end the text early in paths, commands and the environment.
  static bool is_text(const Json& field) {
    return field.is_string() && field.get_ref<const std::string&>().find('\0') == std::string::npos;
  }

  const Json* find(const char* key) {
    const auto found = json_.find(key);
    asked_[count_++] = key;
    found_ += found == json_.end() ? 0 : 1;
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }

  const Json& json_;
  std::array<std::string_view, 40> asked_;  // so far; room for all fields of a job
  std::size_t count_ = 0;
  std::size_t found_ = 0;
  std::optional<Error> error_;
};

}  // namespace berth
