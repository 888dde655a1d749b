// --record and --gantt of `berth run`: a record of the run beside its report.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/record_observer.h"

namespace berth {

/// FILE.csv or FILE.html.
Result<void> add_record_file(RecordFiles& files, std::string_view path);

class RunRecord {
 public:
  /// Nothing if no file is asked for. `source` is the file of the commands. `devices` and
  /// `reporter` are borrowed.
  static Result<std::optional<RunRecord>> open(const RecordFiles& files, std::string_view source,
                                               Devices& devices, RunObserver& reporter);

  RunObserver& observer() { return *observer_; }
  /// Takes a last reading, and writes what is written at the end. Nobody else may read the devices
  /// any more.
  Result<void> finish();

 private:
  RunRecord(std::unique_ptr<Recorder> recorder, Devices& devices, RunObserver& reporter)
      : devices_(&devices),
        recorder_(std::move(recorder)),
        observer_(std::make_unique<RecordObserver>(*recorder_, reporter)) {}

  Devices* devices_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<RecordObserver> observer_;
};

}  // namespace berth
