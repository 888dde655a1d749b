// Job lines from strangers, in pieces of any size: never a crash, never two readings of one text.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "spec/job_line.h"

namespace {

std::vector<std::string> read(std::string_view text, berth::JobReader::Separator separator,
                              std::size_t piece) {
  berth::JobReader reader(separator);
  std::vector<std::string> items;
  const auto drain = [&] {
    while (const auto item = reader.next()) {
      items.push_back(*item ? (*item)->command : item->error().message);
    }
  };
  while (!text.empty()) {
    reader.feed(text.substr(0, piece));
    text.remove_prefix(std::min(piece, text.size()));
    drain();
  }
  reader.finish();
  drain();
  return items;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) {
    return 0;
  }
  const auto separator =
      data[0] % 2 == 0 ? berth::JobReader::Separator::Newline : berth::JobReader::Separator::Nul;
  const std::size_t piece = 1 + data[1];
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (read(text, separator, piece) != read(text, separator, text.size() + 1)) {
    std::abort();
  }
  return 0;
}
