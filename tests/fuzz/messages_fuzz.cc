// What clients and files tell the daemon: any bytes are understood or refused, and what is
// understood can be said again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/messages.h"
#include "base/bounds.h"
#include "base/check.h"
#include "daemon/selector.h"
#include "store/journal.h"

namespace {

using namespace berth;

bool has_nul(const std::string& text) { return text.find('\0') != std::string::npos; }

void check_submission(std::string_view text) {
  const Result<SubmitRequest> submission = parse_submit_request(text);
  if (!submission) {
    BERTH_CHECK(!submission.error().message.empty());
    return;
  }
  BERTH_CHECK(!submission->jobs.empty());
  std::uint64_t count = 0;
  for (const SubmittedJob& job : submission->jobs) {
    BERTH_CHECK(!job.description.command.empty() && !has_nul(job.description.command));
    BERTH_CHECK(job.description.spec.limit >= Duration{} &&
                job.description.spec.expected >= Duration{});
    count += job.count;
  }
  BERTH_CHECK(count >= submission->jobs.size() && count <= std::uint64_t{kMostInArray});
  const std::string said = to_json(*submission);
  const Result<SubmitRequest> again = parse_submit_request(said);
  BERTH_CHECK(again.has_value() && to_json(*again) == said);
}

void check_edit(std::string_view text) {
  JobDescription job;
  job.command = "true";
  if (const auto edit = JobEdit::parse(text); edit && edit->apply(job)) {
    BERTH_CHECK(!has_nul(job.command) && !has_nul(job.name));
  }
}

void check_selector(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const SelectorFacts facts{[] { return std::vector<JobId>{JobId{3}}; },
                            [](std::size_t back) {
                              return std::optional(IdRange{JobId{1 + back}, JobId{1 + back}});
                            }};
  const Result<JobFilter> filter = parse_selector(words, facts);
  if (!filter) {
    BERTH_CHECK(!filter.error().message.empty());
    return;
  }
  // Every word counts: a choice that would be wider than what was said must not come of it. All
  // names are all jobs.
  const bool everything = words.empty() || (words.size() == 1 && words[0] == "*");
  BERTH_CHECK(everything || !filter->ids.empty() || !filter->or_named.empty() ||
              !filter->names.empty() || !filter->phases.empty() || !filter->labels.empty() ||
              filter->project || filter->sweep || filter->user);
  for (const IdRange& range : filter->ids) {
    BERTH_CHECK(range.first.value >= 1 && range.first.value <= range.last.value);
  }
}

void check_journal(std::string_view bytes) {
  if (const std::optional<JournalInput> input = decode_input(bytes)) {
    const std::string written = encode_input(*input);
    const std::optional<JournalInput> again = decode_input(written);
    BERTH_CHECK(again.has_value() && encode_input(*again) == written);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      check_submission(text);
      break;
    case 1:
      check_edit(text);
      break;
    case 2:
      check_selector(text);
      break;
    default:
      check_journal(text);
  }
  return 0;
}
