// The files that berth reads and others may have changed, or a crash has torn: any bytes are read
// or refused; what was read can be shown, and what is written of it is read again as the same.
//
//   files_fuzz --seeds FOLDER    writes one of each, as berth itself does
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <string_view>

#include "api/messages/whatif.h"
#include "base/check.h"
#include "batch/journal.h"
#include "daemon/sessions.h"
#include "daemon/usage_log.h"
#include "drive/journal_player.h"
#include "exec/attempt_record.h"
#include "files.h"
#include "gpu/locks/lock_folder.h"
#include "gpu/mps/mps_process.h"
#include "memory/peak_file.h"
#include "policy/policies.h"
#include "sim/machine_file.h"
#include "sim/trace.h"
#include "spec/peasy.h"
#include "spec/sweep.h"
#include "spec/sweep_file.h"
#include "spec/task.h"
#include "store/change_coding.h"
#include "store/fields.h"
#include "store/journal.h"
#include "store/redo_log.h"

namespace berth {
namespace {

/// For what is read from files alone. Who runs this removes it: after a crash nothing here is run.
const std::string& scratch() {
  static const std::string kFolder = [] {
    const char* const chosen = std::getenv("TMPDIR");
    std::string path = std::string(chosen != nullptr ? chosen : "/tmp") + "/berth-fuzz-XXXXXX";
    BERTH_CHECK(::mkdtemp(path.data()) != nullptr);
    return path;
  }();
  return kFolder;
}

std::string file_with(const std::string& name, std::string_view bytes) {
  const std::string path = scratch() + "/" + name;
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return path;
}

/// What `decode` reads and `encode` writes is the same when it is read again.
template <class Decode, class Encode>
void check_same(std::string_view bytes, Decode decode, Encode encode) {
  if (const auto read = decode(bytes)) {
    const std::string written = encode(*read);
    const auto again = decode(written);
    BERTH_CHECK(again.has_value() && encode(*again) == written);
  }
}

/// How many jobs a scheduler that is told of it has to take.
std::uint64_t jobs_of(const JournalInput& input) {
  if (const auto* submit = std::get_if<Submit>(&input)) {
    return submit->count;
  }
  std::uint64_t jobs = 0;
  if (const auto* restored = std::get_if<Restored>(&input)) {
    jobs = restored->count;
    for (const Restored::More& more : restored->more) {
      jobs += more.count;
    }
  }
  return jobs;
}

void check_store_journal(std::string_view bytes) {
  check_same(bytes, decode_input, encode_input);
  // Whatever it is, a scheduler that is told of it lives.
  JournalPlayer player;
  const auto tell = [&](const JournalInput& input) {
    return player.take(input, Time{std::chrono::hours(1)}).has_value();
  };
  BERTH_CHECK(tell(Restarted{"priority"}) && tell(DeviceAdded{{"0", "", "", gibibytes(8), {}}}));
  BERTH_CHECK(tell(Submit{{}, JobId{1}, 3, true}) && tell(Stepped{}));
  // Ten million jobs are within bounds, and take their time.
  if (const auto input = decode_input(bytes); input && jobs_of(*input) <= 10'000) {
    (void)(tell(*input) && tell(Stepped{}) && tell(CheckpointBegun{}));
  }
}

void check_changes(std::string_view bytes) {
  const auto encode = [](std::vector<Change>& changes) {
    std::deque<Change> queue;
    std::move(changes.begin(), changes.end(), std::back_inserter(queue));
    const std::optional<std::string> written = encode_changes(queue, 0, SIZE_MAX);
    BERTH_CHECK(written.has_value());
    return *written;
  };
  if (auto changes = decode_changes(bytes)) {
    const std::string written = encode(*changes);
    auto again = decode_changes(written);
    BERTH_CHECK(again.has_value() && encode(*again) == written);
  }
}

void check_redo_log(std::string_view bytes) {
  // In place, as a crash leaves it: a file that is made anew each time would be most of the work.
  static const std::string kPath = scratch() + "/db";
  static RedoLog first = RedoLog::open(kPath);
  const Fd file(::open((kPath + "-redo").c_str(), O_WRONLY | O_CLOEXEC));
  const std::string written = std::string(bytes) + std::string(64, '\0');
  BERTH_CHECK(::pwrite(file.get(), written.data(), written.size(), 0) ==
              static_cast<ssize_t>(written.size()));
  RedoLog log = RedoLog::open(kPath);
  for (const std::string& entry : log.recover(0)) {
    check_changes(entry);
  }
  BERTH_CHECK(log.room() <= first.room());
}

void check_fields(std::string_view bytes) {
  check_same(bytes, decode_needs, encode_needs);
  check_same(bytes, decode_retry, encode_retry);
  check_same(bytes, decode_after, encode_after);
  check_same(bytes, decode_list, encode_list);
  check_same(bytes, decode_sizes, encode_sizes);
  check_same(bytes, decode_label,
             [](const auto& label) { return encode_label(label.first, label.second); });
  JobDescription job;
  if (decode_rest(bytes, job)) {
    const std::string written = encode_rest(job);
    JobDescription again;
    BERTH_CHECK(decode_rest(written, again) && encode_rest(again) == written);
  }
}

void check_attempt(std::string_view text) {
  constexpr AttemptName kName{JobId{12}, 3};
  (void)parse_attempt_record(text, kName);
  (void)parse_end_record(text, kName);
  for (const std::string_view ending : {"", ".exit"}) {
    if (const auto name = parse_record_name(text, ending)) {
      BERTH_CHECK(parse_record_name(record_name(*name, ending), ending) == name);
    }
  }
}

void check_peaks(std::string_view text) {
  std::vector<PastRun> seen;
  PeakFile file(file_with("peaks", text),
                {[&](const PastRun& run) { seen.push_back(run); }, [&] { seen.clear(); }});
  for (const PastRun& run : seen) {
    BERTH_CHECK(run.peak > Bytes{} || (run.peak == Bytes{} && run.length >= Duration{}));
    BERTH_CHECK(parse_past_run(line_of(run)).has_value());
  }
  // A torn line at the end spoils one entry, and no more.
  const std::size_t before = seen.size();
  const PastRun run{{"key\t\n\\", {1, 2.5}}, Bytes{7}, std::chrono::seconds(2)};
  file.add(run);
  file.add(run);
  BERTH_CHECK(seen.size() > before && seen.back().recipe.key == run.recipe.key);
  BERTH_CHECK(seen.back().length == run.length);
}

void check_sessions(std::string_view text) {
  const Sessions sessions(text);
  const std::string written = sessions.text();
  BERTH_CHECK(Sessions(written).text() == written);
  (void)Sessions(text).find(text.substr(0, 64), Time{std::chrono::hours(24)});
}

void check_usage(std::string_view bytes) {
  check_same(bytes, &UsageLog::decode, [](const UsageLog& log) { return log.encode(); });
  if (auto log = UsageLog::decode(bytes)) {
    for (std::size_t point = 0; point < log->points(); ++point) {
      (void)log->time(point);
      for (std::size_t device = 0; device < log->devices().size(); ++device) {
        (void)log->memory(point, device);
        (void)log->utilization(point, device);
      }
    }
    log->add(Time{std::chrono::hours(1'000'000)},
             std::vector<UsageLog::Reading>(log->devices().size()));
  }
}

void check_lock_holder(std::string_view text) {
  const LockHolder holder = decode_holder(text, 0, "f");
  const auto shown = describe(holder) + holder.device;
  BERTH_CHECK(shown.find('\n') == shown.npos && shown.find('\x1b') == shown.npos);
  const LockHolder again = decode_holder(encode_holder(holder), 0, "f");
  BERTH_CHECK(again.pid == holder.pid && again.started == holder.started);
}

/// A command of MPS that has ended: its output is in memory.
template <class Command>
Command ended_command(std::optional<std::vector<pid_t>> (* /*reader*/)(const Command&),
                      std::string_view output) {
  Command command;
  command.output = Fd(::memfd_create("answer", MFD_CLOEXEC));
  BERTH_CHECK(::write(command.output.get(), output.data(), output.size()) ==
              static_cast<ssize_t>(output.size()));
  return command;
}

void check_mps_answer(std::string_view text) {
  const auto command = ended_command(&server_list, text);
  if (const auto servers = server_list(command)) {
    for (const pid_t pid : *servers) {
      BERTH_CHECK(pid > 0);
    }
  }
  (void)output_of(command).has_value();
}

void check_batch_journal(std::string_view text) {
  BatchProgress progress;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    (void)progress.take(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  for (const auto& [row, record] : progress.rows) {
    BERTH_CHECK(row < progress.taken());
  }
}

void check_tasks(std::string_view text) {
  TaskFormat format;
  format.files_must_exist = false;
  for (const std::optional<std::size_t> header : {std::optional<std::size_t>(0), {}}) {
    format.header = header;
    for (const Task& task : parse_tasks(text, format).tasks) {
      BERTH_CHECK(task.line >= 1 && !task.command(task.epochs, 1).empty());
    }
  }
}

void check_peasy(std::string_view text) {
  for (const PeasyJob& job : parse_peasy(text).jobs) {
    BERTH_CHECK(!job.command.empty() && job.line >= 1);
  }
}

void check_sweep(std::string_view text) {
  Result<SweepSpec> spec = parse_sweep_file(text, "f");
  if (!spec) {
    BERTH_CHECK(!spec.error().message.empty());
    return;
  }
  spec->most_misses = 100;
  spec->n_samples = std::min<std::uint64_t>(spec->n_samples.value_or(20), 20);
  if (const Result<Sweep> sweep = Sweep::make(*std::move(spec))) {
    SweepCursor cursor(*sweep, 1);
    while (cursor.next()) {
      (void)cursor.command();
    }
  }
}

void check_machine(std::string_view text) {
  if (const Result<Machine> machine = parse_machine_file(text, "f")) {
    BERTH_CHECK(!machine->empty() && machine->size() <= kMostSimDevices);
  }
}

void check_packed_trace(std::string_view bytes) {
  TraceOptions options;
  options.skip_bad = bytes.size() % 2 == 0;
  (void)read_trace(file_with("t.csv.gz", bytes), options).has_value();
  (void)read_trace(file_with("t.swf", bytes), options).has_value();
}

void check_whatif(std::string_view text) {
  if (const Result<WhatifRequest> request = parse_whatif_request(text)) {
    for (const std::string& word : request->policies) {
      BERTH_CHECK(!word.empty() && word.find('/') == word.npos);
    }
  }
}

void check_policy(std::string_view text) {
  (void)make_policy(text).has_value();
  (void)make_live_policy(text).has_value();
}

using Check = void (*)(std::string_view);
constexpr std::array<Check, static_cast<std::size_t>(FileKind::Count)> kChecks = {
    check_store_journal, check_changes,  check_redo_log, check_fields,      check_attempt,
    check_peaks,         check_sessions, check_usage,    check_lock_holder, check_mps_answer,
    check_batch_journal, check_tasks,    check_peasy,    check_sweep,       check_machine,
    check_packed_trace,  check_whatif,   check_policy};

}  // namespace
}  // namespace berth

extern "C" int LLVMFuzzerInitialize(int* count, char*** words) {
  if (*count == 3 && std::string_view((*words)[1]) == "--seeds") {
    berth::write_seeds((*words)[2]);
    std::exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) {
    berth::kChecks[data[0] % berth::kChecks.size()](
        {reinterpret_cast<const char*>(data) + 1, size - 1});
  }
  return 0;
}
