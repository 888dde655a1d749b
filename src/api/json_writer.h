// JsonWriter: writes JSON directly as text, without a tree in between. Keys keep their order. Texts
// need not be UTF-8 (a user typed them, a job printed them), but JSON must be, so invalid bytes are
// replaced by U+FFFD. A number that JSON cannot express (infinity or NaN) becomes null.
//
//   JsonWriter json;
//   json.object([&] {
//     json.field("version", 1);
//     json.array("jobs", [&] { json.value(12); });
//   });
//   json.take();  // {"version":1,"jobs":[12]}
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/units.h"

namespace berth {

class JsonWriter {
 public:
  /// Writes everything on one line, or indents each level by `indent` blanks.
  explicit JsonWriter(std::size_t indent = 0) : indent_(indent) {}

  template <class Body>
  void object(const Body& body) {
    open('{');
    body();
    close('}');
  }
  template <class Body>
  void object(std::string_view name, const Body& body) {
    key(name);
    object(body);
  }
  template <class Body>
  void array(const Body& body) {
    open('[');
    body();
    close(']');
  }
  template <class Body>
  void array(std::string_view name, const Body& body) {
    key(name);
    array(body);
  }

  template <class T>
  void field(std::string_view name, const T& content) {
    key(name);
    value(content);
  }
  /// With `decimals` digits after the point.
  void field(std::string_view name, double number, int decimals) {
    key(name);
    fixed(number, decimals);
  }

  /// The next value belongs to this field.
  void key(std::string_view name);

  /// A number, a text, true, false or null. Any other type has its own
  /// write(JsonWriter&, const T&).
  template <class T>
  void value(const T& content) {
    if constexpr (std::is_same_v<T, bool>) {
      word(content ? "true" : "false");
    } else if constexpr (std::is_integral_v<T>) {
      static_assert(!std::is_same_v<T, char>, "a letter is no number");
      if constexpr (std::is_signed_v<T>) {
        integer(content);
      } else {
        natural(content);
      }
    } else if constexpr (std::is_same_v<T, std::string>) {
      value(std::string_view(content));
    } else if constexpr (std::is_same_v<T, Bytes>) {
      integer(content.count);
    } else if constexpr (std::is_same_v<T, JobId>) {
      natural(content.value);
    } else if constexpr (std::is_null_pointer_v<T>) {
      word("null");
    } else {
      static_assert(std::is_class_v<T>);
      write(*this, content);
    }
  }
  void value(double number);
  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  /// null if there is no value.
  template <class T>
  void value(const std::optional<T>& content) {
    content ? value(*content) : value(nullptr);
  }
  template <class T>
  void value(const std::vector<T>& items) {
    array([&] {
      for (const T& item : items) {
        value(item);
      }
    });
  }
  template <class T>
  void value(const std::map<std::string, T>& fields) {
    object([&] {
      for (const auto& [name, content] : fields) {
        field(name, content);
      }
    });
  }
  void fixed(double number, int decimals);

  std::string take() { return std::move(text_); }

 private:
  void open(char bracket);
  void close(char bracket);
  void begin_value();
  void new_line();
  void integer(std::int64_t number);
  void natural(std::uint64_t number);
  void word(std::string_view json);

  std::string text_;
  std::size_t indent_;
  std::size_t depth_ = 0;
  bool first_ = true;       // the open bracket is still empty
  bool after_key_ = false;  // the value of a field comes next
};

/// `text` as a JSON string, with its quotes.
std::string quote(std::string_view text);

}  // namespace berth
