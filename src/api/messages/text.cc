#include "api/messages/text.h"

#include <fmt/format.h>

#include <array>

#include "api/messages/description.h"
#include "base/bounds.h"

namespace berth {
namespace {

/// JSON's numbers are exact up to here.
constexpr std::uint64_t kMostExact = std::uint64_t{1} << 53;

constexpr std::array<std::string_view, 4> kFormats = {"lines", "peasy", "sweep", "csv"};

/// Takes it out of `json`: it may be long.
Result<std::string> text_in(Json& json, std::string_view key) {
  if (!json.is_string() || json.get_ref<const std::string&>().find('\0') != std::string::npos) {
    return wrong_field(key, "a text");
  }
  return std::move(json.get_ref<std::string&>());
}

Result<std::uint64_t> number_in(const Json& json, std::string_view key) {
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > kMostExact) {
    return wrong_field(key, "a whole number from 0 to 2^53");
  }
  return json.get<std::uint64_t>();
}

Result<std::vector<std::string>> texts_in(Json& json, std::string_view key) {
  if (!json.is_array()) {
    return wrong_field(key, "a list of texts");
  }
  std::vector<std::string> texts;
  for (Json& item : json) {
    Result<std::string> text = text_in(item, key);
    if (!text) {
      return wrong_field(key, "a list of texts");
    }
    texts.push_back(std::move(*text));
  }
  return texts;
}

/// The words of `lr 0.1 "two words"`; a list is words already.
Result<std::vector<std::string>> words_in(Json& json, std::string_view key) {
  if (json.is_array()) {
    return texts_in(json, key);
  }
  const Result<std::string> text = text_in(json, key);
  if (!text) {
    return wrong_field(key, "a list of texts, or of lists of words");
  }
  std::vector<std::string> words;
  bool inside = false;
  char quote = 0;
  for (const char c : *text) {
    if (quote != 0 ? c == quote : c == '\'' || c == '"') {
      quote = quote != 0 ? '\0' : c;
    } else if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      inside = false;
      continue;
    } else {
      if (!inside) {
        words.emplace_back();
      }
      inside = true;
      words.back() += c;
      continue;
    }
    if (!inside) {
      words.emplace_back();  // it may be empty
    }
    inside = true;
  }
  if (quote != 0) {
    return wrong_field(key, "closed where it opens a quote");
  }
  return words;
}

Result<std::vector<std::vector<std::string>>> word_lists(Json& json, std::string_view key) {
  if (!json.is_array()) {
    return wrong_field(key, "a list of texts, or of lists of words");
  }
  std::vector<std::vector<std::string>> lists;
  for (Json& item : json) {
    Result<std::vector<std::string>> words = words_in(item, key);
    if (!words) {
      return Failure(words.error());
    }
    lists.push_back(std::move(*words));
  }
  return lists;
}

template <class Out, class T>
Result<void> set(Out& out, Result<T> read) {
  if (!read) {
    return Failure(read.error());
  }
  out = std::move(*read);
  return {};
}

/// How long a field may be, as JSON.
std::size_t longest(std::string_view key) {
  return key == "text"       ? kLongestText
         : key == "defaults" ? kLongestDefaults
         : key == "where"    ? kLongestCondition
                             : kLongestMessage;
}

Result<void> read_field(const std::string& key, Json& json, TextRequest& out) {
  if (key == "format") {
    for (std::size_t i = 0; i < kFormats.size(); ++i) {
      if (json == kFormats[i]) {
        out.format = static_cast<TextRequest::Format>(i);
        return {};
      }
    }
    return wrong_field(key, fmt::format("one of {}", fmt::join(kFormats, ", ")));
  }
  if (key == "defaults") {
    return read_description(json, out.defaults);
  }
  if (key == "environment_from") {
    return set(out.environment_from, read_environment_from(json));
  }
  if (key == "text") {
    return set(out.text, text_in(json, key));
  }
  if (key == "template") {
    return set(out.command, text_in(json, key));
  }
  if (key == "parameters") {
    return set(out.parameters, word_lists(json, key));
  }
  if (key == "zip") {
    return set(out.zips, word_lists(json, key));
  }
  if (key == "where") {
    return set(out.where, texts_in(json, key));
  }
  if (key == "mode") {
    return set(out.mode, text_in(json, key));
  }
  if (key == "n_samples") {
    return set(out.n_samples, number_in(json, key));
  }
  if (key == "seed") {
    return set(out.seed, number_in(json, key));
  }
  if (key == "allow_unused") {
    out.allow_unused = json.is_boolean() && json.get<bool>();
    return json.is_boolean() ? Result<void>{} : wrong_field(key, "true or false");
  }
  if (key == "overwrite") {
    out.overwrite = json.is_boolean() && json.get<bool>();
    return json.is_boolean() ? Result<void>{} : wrong_field(key, "true or false");
  }
  if (key == "header") {
    if (json.is_null()) {
      out.header = std::nullopt;
      return {};
    }
    return set(out.header, number_in(json, key));
  }
  return fail(ErrorCode::Usage, fmt::format("a text has no field {}", shown(key)));
}

void write_checked(JsonWriter& json, const JobDescription& job) {
  const Needs& needs = job.spec.needs;
  json.field("name", job.name);
  json.field("project", job.project);
  json.field("command", job.command);
  json.field("directory", job.directory);
  json.field("gpus_needed", needs.gpus);
  json.field("mem", needs.memory > Bytes{} ? std::optional(needs.memory) : std::nullopt);
  json.field("claim", claim_source_name(needs.claim));
  json.field("priority", job.spec.priority);
  json.field("output", job.output);
  json.field("parameters", job.parameters);
}

}  // namespace

Result<TextRequest> parse_text_request(std::string_view text) {
  TextRequest request;
  bool has_format = false;
  JsonParts members(text, JsonParts::Of::Object);
  while (members.next()) {
    const std::string key = key_of(members.key());
    if (key == "token") {
      if (const Result<void> read = set(request.token, read_token(members.value())); !read) {
        return Failure(read.error());
      }
      continue;
    }
    Result<Json> json = parse_part(members.value(), members.extent(), longest(key));
    if (!json) {
      return fail(json.error().code, fmt::format("{}: {}", shown(key), json.error().message));
    }
    if (const Result<void> read = read_field(key, *json, request); !read) {
      return fail(read.error().code,
                  key == "defaults" ? "defaults: " + read.error().message : read.error().message);
    }
    has_format = has_format || key == "format";
  }
  if (members.failed()) {
    return fail(ErrorCode::Usage, "this is not a JSON object");
  }
  if (!has_format) {
    return wrong_field("format", fmt::format("one of {}", fmt::join(kFormats, ", ")));
  }
  return request;
}

std::string to_json(const TextReply& reply) {
  JsonWriter json;
  json.object([&] {
    json.field("version", 1);
    json.field("count", reply.count);
    json.array("jobs", [&] {
      for (const JobDescription* job : reply.jobs) {
        json.object([&] { write_checked(json, *job); });
      }
    });
    json.array("problems", [&] {
      for (const TextReply::Problem& problem : reply.problems) {
        json.object([&] {
          if (problem.line > 0) {
            json.field("line", problem.line);
            json.field("column", problem.column);
          }
          json.field("message", problem.message);
        });
      }
    });
    if (reply.seed) {
      json.field("seed", *reply.seed);
    }
  });
  return json.take();
}

}  // namespace berth
