#include "api/gzip.h"

#include <zlib.h>

#include <algorithm>

#include "api/http_text.h"

namespace berth {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t";
  const std::size_t begin = std::min(text.find_first_not_of(kBlank), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kBlank) + 1);
}

/// "q=0", "q=0.000".
bool is_refusal(std::string_view parameter) {
  return parameter.size() >= 3 && equal_ignoring_case(parameter.substr(0, 2), "q=") &&
         parameter.substr(2).find_first_not_of("0.") == parameter.npos;
}

}  // namespace

bool accepts_gzip(std::string_view accept_encoding) {
  for (;;) {
    const std::size_t comma = accept_encoding.find(',');
    const std::string_view coding = accept_encoding.substr(0, comma);
    const std::size_t semicolon = coding.find(';');
    if (equal_ignoring_case(trimmed(coding.substr(0, semicolon)), "gzip")) {
      return semicolon == coding.npos || !is_refusal(trimmed(coding.substr(semicolon + 1)));
    }
    if (comma == accept_encoding.npos) {
      return false;
    }
    accept_encoding = accept_encoding.substr(comma + 1);
  }
}

std::string gzip(std::string_view text) {
  constexpr int kWindow = 15 + 16;  // the largest, with the head and the checksum of gzip
  constexpr int kMemory = 8;        // as usual
  z_stream stream{};
  if (::deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kWindow, kMemory, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return {};
  }
  std::string packed(::deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const bool done = ::deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.erase(done ? stream.total_out : 0);
  ::deflateEnd(&stream);
  return packed;
}

}  // namespace berth
