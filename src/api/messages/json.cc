#include "api/messages/json.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bounds.h"

namespace berth {

Result<Json> parse_part(std::string_view text, std::size_t longest) {
  return parse_part(text, json_extent(text, 0), longest);
}

Result<Json> parse_part(std::string_view text, const JsonExtent& extent, std::size_t longest) {
  if (text.size() > longest) {
    return fail(ErrorCode::Usage, fmt::format("it is {} bytes long as JSON: at most {} can be",
                                              text.size(), longest));
  }
  if (extent.depth > kDeepestJson || extent.values > kMostValues) {
    return fail(ErrorCode::Usage,
                fmt::format("it holds more than {} values, or more than {} within each other",
                            kMostValues, kDeepestJson));
  }
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) {
    return fail(ErrorCode::Usage, "it is not JSON");
  }
  return json;
}

Result<Json> parse_object(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  const JsonExtent extent = json_extent(text, begin);
  Result<Json> json = parse_part(text, extent, kLongestMessage);
  const bool too_much =
      extent.depth > kDeepestJson || extent.values > kMostValues || text.size() > kLongestMessage;
  if (!json && too_much) {
    return json;
  }
  if (!json || !json->is_object()) {
    return fail(ErrorCode::Usage, "this is not a JSON object");
  }
  return json;
}

std::string key_of(std::string_view text) {
  if (text.find('\\') == text.npos) {
    return std::string(text.substr(1, text.size() - 2));
  }
  const Result<Json> json = parse_part(text, kLongestMessage);
  return json && json->is_string() ? json->get<std::string>() : std::string(text);
}

Failure wrong_field(std::string_view field, std::string_view wanted) {
  return fail(ErrorCode::Usage, fmt::format("{} must be {}", field, wanted));
}

std::string shown(std::string_view text) {
  constexpr std::size_t kShown = 60;
  return fmt::format("'{}{}'", text.substr(0, kShown), text.size() > kShown ? "…" : "");
}

Result<std::string> read_token(std::string_view text) {
  const Result<Json> json = parse_part(text, kLongestMessage);
  if (!json || !json->is_string()) {
    return fail(ErrorCode::Usage, "token must be a text");
  }
  const std::string& token = json->get_ref<const std::string&>();
  if (token.size() > kLongestToken) {
    return fail(ErrorCode::Usage, fmt::format("token is {} bytes long: at most {} can be",
                                              token.size(), kLongestToken));
  }
  return token;
}

Result<JobId> read_environment_from(const Json& json) {
  if (json == "daemon") {
    return JobId{0};
  }
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() == 0) {
    return wrong_field("environment_from", "\"daemon\", or the number of a job");
  }
  return JobId{json.get<std::uint64_t>()};
}

}  // namespace berth
