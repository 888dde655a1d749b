#include "spec/sweep_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/nearest.h"

// Header-only, because Debian's library is a shared one: berth links none that it can do without.
// Errors as values, because berth throws none.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace berth {
namespace {

constexpr std::array<std::string_view, 8> kKeys = {"command", "mode", "n_samples",    "seed",
                                                   "where",   "zip",  "allow_unused", "parameters"};

class Reader {
 public:
  explicit Reader(std::string_view name) : name_(name) {}

  Failure error(const toml::source_region& where, std::string_view what) const {
    return fail(ErrorCode::Usage,
                fmt::format("{}:{}:{}: {}", name_, where.begin.line, where.begin.column, what));
  }

  Result<SweepSpec> read(const toml::table& table) {
    for (const auto& [key, node] : table) {
      if (const auto done = read_key(key, node); !done) {
        return Failure(done.error());
      }
    }
    return std::move(spec_);
  }

 private:
  Failure wrong_type(const toml::key& key, std::string_view wanted) const {
    return error(key.source(), fmt::format("{} must be {}", key.str(), wanted));
  }

  Failure in_key(const toml::key& key, const Error& problem) const {
    return error(key.source(), problem.message);
  }

  Result<void> read_key(const toml::key& key, const toml::node& node) {
    if (key == "command") {
      spec_.command = node.value_exact<std::string>();
      return spec_.command ? Result<void>() : wrong_type(key, "a text");
    }
    if (key == "mode") {
      return read_mode(key, node);
    }
    if (key == "n_samples" || key == "seed") {
      return read_number(key, node);
    }
    if (key == "where") {
      return read_texts(key, node, spec_.where);
    }
    if (key == "zip") {
      return read_zip(key, node);
    }
    if (key == "allow_unused") {
      const auto flag = node.value_exact<bool>();
      spec_.allow_unused = flag.value_or(false);
      return flag ? Result<void>() : wrong_type(key, "true or false");
    }
    if (key == "parameters") {
      return read_parameters(key, node);
    }
    const std::string_view meant = nearest(key.str(), kKeys);
    return error(key.source(), meant.empty() ? fmt::format("unknown key '{}' (known: {})",
                                                           key.str(), fmt::join(kKeys, ", "))
                                             : fmt::format("unknown key '{}': did you mean '{}'?",
                                                           key.str(), meant));
  }

  Result<void> read_mode(const toml::key& key, const toml::node& node) {
    const auto text = node.value_exact<std::string>();
    const Result<SweepOrder> order = parse_sweep_order(text.value_or(""));
    if (!order) {
      return text ? in_key(key, order.error()) : wrong_type(key, "\"grid\" or \"shuffled_grid\"");
    }
    spec_.order = *order;
    return {};
  }

  Result<void> read_number(const toml::key& key, const toml::node& node) {
    const auto number = node.value_exact<std::int64_t>();
    if (key == "seed" && number) {
      spec_.seed = static_cast<std::uint64_t>(*number);
      return {};
    }
    if (!number || *number < 0) {
      return wrong_type(key, key == "seed" ? "a whole number" : "a whole number, at least 0");
    }
    spec_.n_samples = static_cast<std::uint64_t>(*number);
    return {};
  }

  /// One text or a list of them.
  Result<void> read_texts(const toml::key& key, const toml::node& node,
                          std::vector<std::string>& out) const {
    if (const auto text = node.value_exact<std::string>()) {
      out.push_back(*text);
      return {};
    }
    const toml::array* list = node.as_array();
    if (list == nullptr) {
      return wrong_type(key, "a text or a list of texts");
    }
    for (const toml::node& item : *list) {
      const auto text = item.value_exact<std::string>();
      if (!text) {
        return error(item.source(), fmt::format("{} must hold texts only", key.str()));
      }
      out.push_back(*text);
    }
    return {};
  }

  Result<void> read_zip(const toml::key& key, const toml::node& node) {
    const toml::array* list = node.as_array();
    if (list == nullptr || list->empty()) {
      return wrong_type(key, "a list of lists of parameter names");
    }
    if (list->front().is_string()) {
      return read_texts(key, node, spec_.zips.emplace_back());
    }
    for (const toml::node& group : *list) {
      if (!group.is_array()) {
        return wrong_type(key, "a list of lists of parameter names");
      }
      if (const auto done = read_texts(key, group, spec_.zips.emplace_back()); !done) {
        return done;
      }
    }
    return {};
  }

  Result<void> read_parameters(const toml::key& key, const toml::node& node) {
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      return wrong_type(key, "a table: [parameters]");
    }
    // The table is sorted by name; the order of a grid is the order of the file.
    std::vector<std::pair<const toml::key*, const toml::node*>> entries;
    for (const auto& [name, values] : *table) {
      entries.emplace_back(&name, &values);
    }
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
      return a.first->source().begin < b.first->source().begin;
    });
    for (const auto& [name, values] : entries) {
      Result<Param> param = read_parameter(*name, *values);
      if (!param) {
        return Failure(param.error());
      }
      spec_.params.push_back(*std::move(param));
    }
    return {};
  }

  Result<Param> read_parameter(const toml::key& name, const toml::node& node) const {
    Result<Param> param = fail(ErrorCode::Usage, "");
    if (const auto text = node.value_exact<std::string>()) {
      param = Param::single(name.str(), *text);
    } else {
      std::vector<std::string> values;
      const toml::array* list = node.as_array();
      const std::size_t size = list == nullptr ? 1 : list->size();
      for (std::size_t i = 0; i < size; ++i) {
        const toml::node& item = list == nullptr ? node : (*list)[i];
        std::optional<std::string> value = scalar(item);
        if (!value) {
          return error(
              item.source(),
              fmt::format("parameter '{}' takes texts, numbers and true or false", name.str()));
        }
        values.push_back(*std::move(value));
      }
      param = Param::listed(name.str(), values);
    }
    return param ? param : in_key(name, param.error());
  }

  /// A value as the command will show it.
  static std::optional<std::string> scalar(const toml::node& node) {
    if (const auto text = node.value_exact<std::string>()) {
      return text;
    }
    if (const auto number = node.value_exact<std::int64_t>()) {
      return fmt::format("{}", *number);
    }
    if (const auto truth = node.value_exact<bool>()) {
      return *truth ? "true" : "false";
    }
    if (const auto number = node.value_exact<double>()) {
      // 1.0 was written with a fraction, and a program may tell 1.0 from 1.
      const std::string text = format_real(*number);
      return text.find_first_not_of("-0123456789") == text.npos ? text + ".0" : text;
    }
    return std::nullopt;
  }

  std::string_view name_;
  SweepSpec spec_;
};

}  // namespace

Result<SweepSpec> parse_sweep_file(std::string_view text, std::string_view name) {
  Reader reader(name);
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    return reader.error(parsed.error().source(), parsed.error().description());
  }
  return reader.read(parsed.table());
}

}  // namespace berth
