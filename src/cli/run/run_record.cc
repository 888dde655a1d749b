#include "cli/run/run_record.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth {

Result<void> add_record_file(RecordFiles& files, std::string_view path) {
  if (path.ends_with(".csv")) {
    files.csv = path;
  } else if (path.ends_with(".html")) {
    files.page = path;
  } else {
    return fail(
        ErrorCode::Usage,
        fmt::format("'{}' does not end in .csv or .html: the ending says what to write", path));
  }
  return {};
}

Result<std::optional<RunRecord>> RunRecord::open(const RecordFiles& files, std::string_view source,
                                                 Devices& devices, RunObserver& reporter) {
  if (files.empty()) {
    return std::optional<RunRecord>();
  }
  const bool read =
      std::any_of(devices.list().begin(), devices.list().end(),
                  [](const DeviceInfo& device) { return device.family != DeviceFamily::Trusted; });
  if (!read && files.csv) {
    reporter.warning(
        fmt::format("no driver tells the use of these devices: {} will have no lines but the first",
                    *files.csv));
  }
  Result<std::unique_ptr<Recorder>> recorder =
      Recorder::open(source == "-" ? "berth run" : fmt::format("berth run {}", source), files,
                     devices.list(), std::chrono::seconds(1));
  if (!recorder) {
    return Failure(recorder.error());
  }
  return std::optional<RunRecord>(RunRecord(std::move(*recorder), devices, reporter));
}

Result<void> RunRecord::finish() {
  recorder_->sampled(devices_->sample(), record_time(), std::chrono::system_clock::now());
  const Result<std::vector<std::string>> written = recorder_->finish(record_time());
  return written ? Result<void>() : Failure(written.error());
}

}  // namespace berth
