#include "rl/packed_name.h"

#include <fmt/format.h>

#include "rl/model_file.h"

namespace berth {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t kLongestLabel = 64;

std::string pack(std::string_view bytes) {
  std::string text;
  std::uint32_t held = 0;
  int bits = 0;
  for (const char c : bytes) {
    held = (held << 8) | static_cast<unsigned char>(c);
    for (bits += 8; bits >= 6; bits -= 6) {
      text += kDigits[(held >> (bits - 6)) & 63];
    }
  }
  if (bits > 0) {
    text += kDigits[(held << (6 - bits)) & 63];
  }
  return text;
}

Result<std::string> unpack(std::string_view text) {
  std::string bytes;
  std::uint32_t held = 0;
  int bits = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) {
      return fail(ErrorCode::Usage, "what is packed into the name of the policy is no model");
    }
    held = (held << 6) | static_cast<std::uint32_t>(digit);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>((held >> bits) & 255);
    }
  }
  return bytes;
}

/// The last part of the path, as far as it can stand in a name.
std::string label_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  std::string label(path.substr(slash == std::string_view::npos ? 0 : slash + 1, kLongestLabel));
  for (char& c : label) {
    c = c <= ' ' || c >= 0x7f || c == '#' || c == ',' ? '_' : c;
  }
  return label;
}

}  // namespace

std::string pack_model(std::string_view path, const Model& model) {
  return fmt::format("{}{}#{}", kLearnedPrefix, label_of(path), pack(to_text(model)));
}

Result<Model> unpack_model(std::string_view name) {
  const std::size_t at = name.find('#');
  if (at == std::string_view::npos) {
    return fail(ErrorCode::Usage,
                fmt::format("the model of policy {} must come with its name: say berth daemon "
                            "policy {}, which reads the file",
                            name, name));
  }
  if (name.size() > 2 * kMostModelBytes) {
    return fail(ErrorCode::Usage, "the name of the policy is too long");
  }
  const Result<std::string> text = unpack(name.substr(at + 1));
  return text ? parse_model(*text, name.substr(kLearnedPrefix.size(), at - kLearnedPrefix.size()))
              : Result<Model>(Failure(text.error()));
}

std::string_view policy_label(std::string_view name) { return name.substr(0, name.find('#')); }

}  // namespace berth
