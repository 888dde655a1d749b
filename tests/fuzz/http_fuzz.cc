// The HTTP that berth reads: any bytes are parsed or refused, however they are cut, and what it
// encodes it decodes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/http_text.h"
#include "api/reply_reader.h"
#include "api/request_reader.h"
#include "base/check.h"

namespace {

using namespace berth;

void check_encoding(std::string_view text) {
  BERTH_CHECK(percent_decode(percent_encode(text), false) == text);
  BERTH_CHECK(percent_decode(percent_encode(text), true) == text);
  if (const std::optional<std::string> decoded = percent_decode(text, true)) {
    BERTH_CHECK(decoded->size() <= text.size());
  }
  if (const std::optional<Target> target = parse_target(text)) {
    std::string again = target->path == "*" ? "*" : percent_encode(target->path);
    // A path keeps its slashes when it is written for a segment at a time; here they are put back.
    for (std::size_t at = 0; (at = again.find("%2F", at)) != std::string::npos;) {
      again.replace(at, 3, "/");
    }
    char mark = '?';
    for (const auto& [name, value] : target->query) {
      again += mark + percent_encode(name) + "=" + percent_encode(value);
      mark = '&';
    }
    const std::optional<Target> back = parse_target(again);
    BERTH_CHECK(back.has_value() && back->path == target->path && back->query == target->query);
  }
}

void check_head(std::string_view text) {
  const Result<std::optional<ReplyHead>> head = parse_reply_head(text);
  if (head && *head) {
    BERTH_CHECK((*head)->size <= text.size());
    BERTH_CHECK((*head)->status >= 100 && (*head)->status <= 999);
  }
}

/// All events of `text`, cut every `step` bytes.
std::string events(std::string_view text, std::size_t step) {
  EventReader reader;
  std::string seen;
  const auto note = [&](std::string_view id, std::string_view event, std::string_view data) {
    seen.append(id).append("|").append(event).append("|").append(data).append("\n");
    return true;
  };
  for (std::size_t at = 0; at < text.size(); at += step) {
    BERTH_CHECK(reader.read(text.substr(at, step), note));
  }
  return seen;
}

/// All requests of `text`, cut every `step` bytes.
std::string requests(std::string_view text, std::size_t step) {
  RequestReader reader({256, 256});
  std::string seen;
  std::string input;
  for (std::size_t at = 0; at < text.size(); at += step) {
    input += text.substr(at, step);
    std::string_view rest = input;
    for (;;) {
      const RequestReader::Step next = reader.read(rest);
      if (next == RequestReader::Step::Failed) {
        return seen;
      }
      if (next == RequestReader::Step::NeedMore) {
        break;
      }
      if (next == RequestReader::Step::Done) {
        BERTH_CHECK(reader.body().size() <= 256);
        seen += reader.head().method + " " + reader.head().target + " " + reader.body() + "\n";
        reader.reset();
      }
    }
    input.erase(0, input.size() - rest.size());
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::size_t step = 1 + data[0] % 16;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  check_encoding(text);
  check_head(text);
  BERTH_CHECK(events(text, step) == events(text, size));
  // Within the limits it makes no difference how requests are cut.
  if (text.size() < 256) {
    BERTH_CHECK(requests(text, step) == requests(text, size));
  } else {
    (void)requests(text, step);
  }
  return 0;
}
