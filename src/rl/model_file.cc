#include "rl/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/text.h"

namespace berth {
namespace {

constexpr std::string_view kMagic = "berth-model";
constexpr std::uint64_t kVersion = 2;
// Format 1 had fewer terms, and fewer inputs of a unit; what was added since came last.
constexpr std::size_t kFirstTerms = 22;
constexpr std::size_t kFirstSights = 9;
constexpr std::size_t kLongestWords = 400;

/// FNV-1a: against damage, not against malice.
std::uint64_t checksum(std::string_view text) {
  std::uint64_t sum = 0xcbf29ce484222325ULL;
  for (const char c : text) {
    sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return sum;
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

struct Words {
  std::string_view key;
  std::string ModelOrigin::*field;
};
constexpr std::array kWords = {
    Words{"name", &ModelOrigin::name},     Words{"workload", &ModelOrigin::workload},
    Words{"reward", &ModelOrigin::reward}, Words{"trainer", &ModelOrigin::trainer},
    Words{"result", &ModelOrigin::result},
};

/// One line of plain text: it is shown on terminals.
std::string plain(std::string_view text) {
  std::string words(text.substr(0, kLongestWords));
  std::replace_if(
      words.begin(), words.end(), [](unsigned char c) { return c < ' ' || c >= 0x7f; }, '?');
  return words;
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  Result<Model> read() {
    if (text_.size() > kMostModelBytes) {
      return wrong(fmt::format("is longer than {} bytes: it is not a model", kMostModelBytes));
    }
    std::string_view first = text_.substr(0, text_.find('\n'));
    if (take_until(first, ' ') != kMagic) {
      return wrong("is not a model of berth: make one with berth train --out FILE");
    }
    const auto version = number_of<std::uint64_t>(first);
    if (version && *version > kVersion) {
      return wrong(fmt::format(
          "has format {}, and this berth reads format {}: update berth, or train the model again",
          *version, kVersion));
    }
    if (!version || *version == 0) {
      return wrong("is damaged: its first line has no version");
    }
    return read_rest(*version);
  }

 private:
  Failure wrong(std::string_view what) const {
    return fail(ErrorCode::Usage, fmt::format("'{}' {}", name_, what));
  }

  Result<Model> read_rest(std::uint64_t version) {
    constexpr std::string_view kSum = "\nchecksum ";
    const std::size_t at = text_.rfind(kSum);
    if (at == std::string_view::npos || text_.back() != '\n') {
      return wrong("is cut off: it has no checksum at its end");
    }
    const std::string_view body = text_.substr(0, at + 1);
    const std::string_view sum = trim(text_.substr(at + kSum.size()));
    if (sum != fmt::format("{:016x}", checksum(body))) {
      return wrong("is damaged: its checksum does not match");
    }
    std::string_view rest = body;
    take_until(rest, '\n');
    Model model;
    while (!rest.empty()) {
      std::string_view line = take_until(rest, '\n');
      if (!read_line(take_until(line, ' '), line, model)) {
        return wrong("is damaged: one of its lines makes no sense");
      }
    }
    if (version == 1) {
      bring_up_to_date(model);
    }
    if (model.weights.size() != weights_of(model.hidden)) {
      return wrong(fmt::format("is damaged: it has {} weights, and its kind wants {}",
                               model.weights.size(), weights_of(model.hidden)));
    }
    return model;
  }

  static bool read_line(std::string_view key, std::string_view value, Model& model) {
    for (const Words& words : kWords) {
      if (words.key == key) {
        model.origin.*words.field = plain(value);
        return true;
      }
    }
    if (key == "seed") {
      const auto seed = number_of<std::uint64_t>(value);
      model.origin.seed = seed.value_or(0);
      return seed.has_value();
    }
    if (key == "hidden") {
      const auto hidden = number_of<std::uint64_t>(value);
      model.hidden = hidden.value_or(0);
      return hidden && *hidden <= kMostHidden;
    }
    if (key == "starts") {
      const std::optional<Starts> starts = parse_starts(value);
      model.starts = starts.value_or(Starts::Hold);
      return starts.has_value();
    }
    if (key == "devices") {
      model.tight = value == "tight";
      return model.tight || value == "usual";
    }
    if (key == "grace") {
      const auto seconds = number_of<std::uint64_t>(value);
      const auto most = static_cast<std::uint64_t>(kMostGrace / std::chrono::seconds(1));
      model.grace = std::chrono::seconds(std::min(seconds.value_or(0), most));
      return seconds && *seconds <= most;
    }
    return key == "weights" && read_weights(value, model);
  }

  static bool read_weights(std::string_view value, Model& model) {
    while (!value.empty()) {
      const auto weight = number_of<float>(take_until(value, ' '));
      if (!weight || !std::isfinite(*weight)) {
        return false;
      }
      model.weights.push_back(*weight);
    }
    return true;
  }

  /// What a model of format 1 does not know of has no weight. If it is damaged, it still is.
  static void bring_up_to_date(Model& model) {
    constexpr std::size_t kFirstInputs = kFirstSights + (kInputs - kSights);
    if (model.weights.size() != kFirstTerms + model.hidden * (kFirstInputs + 2)) {
      return;
    }
    auto at = model.weights.begin() + kFirstTerms;
    at = model.weights.insert(at, kTerms - kFirstTerms, 0.0F) + (kTerms - kFirstTerms);
    for (std::size_t unit = 0; unit < model.hidden; ++unit) {
      at = model.weights.insert(at + kFirstSights, kSights - kFirstSights, 0.0F);
      at += static_cast<std::ptrdiff_t>(kSights - kFirstSights + kFirstInputs - kFirstSights + 1);
    }
  }

  std::string_view text_;
  std::string_view name_;
};

}  // namespace

std::string to_text(const Model& model) {
  std::string text = fmt::format("{} {}\n", kMagic, kVersion);
  for (const Words& words : kWords) {
    text += fmt::format("{} {}\n", words.key, plain(model.origin.*words.field));
  }
  text += fmt::format("seed {}\nhidden {}\nstarts {}\ndevices {}\ngrace {}\n", model.origin.seed,
                      model.hidden, starts_name(model.starts), model.tight ? "tight" : "usual",
                      model.grace / std::chrono::seconds(1));
  constexpr std::size_t kInLine = 8;
  for (std::size_t i = 0; i < model.weights.size(); i += kInLine) {
    const std::size_t end = std::min(i + kInLine, model.weights.size());
    text += "weights";
    for (std::size_t k = i; k < end; ++k) {
      text += fmt::format(" {}", model.weights[k]);  // the shortest that reads back the same
    }
    text += '\n';
  }
  return text + fmt::format("checksum {:016x}\n", checksum(text));
}

Result<Model> parse_model(std::string_view text, std::string_view name) {
  return Reader(text, name).read();
}

}  // namespace berth
