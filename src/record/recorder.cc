#include "record/recorder.h"

#include <fmt/format.h>

#include <cerrno>
#include <set>
#include <utility>

#include "record/record_charts.h"
#include "record/use_csv.h"

namespace berth {
namespace {

void close_file(std::FILE* file) {
  if (file != stdout) {
    (void)std::fclose(file);
  }
}

Result<void> write_whole(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) {
    return fail_errno(path, errno);
  }
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !written) {
    return fail_errno(path, errno);
  }
  return {};
}

MakeCanvas canvas_for(const std::string& path) {
  return path.ends_with(".png") ? make_png_canvas : make_svg_canvas;
}

}  // namespace

Result<void> check_picture(std::string_view path) {
  if (!path.ends_with(".svg") && !path.ends_with(".png")) {
    return fail(ErrorCode::Usage, fmt::format("'{}' does not end in .svg or .png", path));
  }
  return {};
}

Recorder::Recorder(std::string heading, RecordFiles files, const std::vector<DeviceInfo>& devices,
                   Duration interval)
    : heading_(std::move(heading)),
      files_(std::move(files)),
      devices_(devices),
      interval_(interval),
      recording_(devices),
      csv_(nullptr, close_file) {
  std::set<std::string> seen;
  for (const DeviceInfo& device : devices) {
    listed_.push_back(device.family != DeviceFamily::Trusted &&
                      seen.insert(device.spec.name).second);
  }
}

Result<std::unique_ptr<Recorder>> Recorder::open(std::string heading, RecordFiles files,
                                                 const std::vector<DeviceInfo>& devices,
                                                 Duration interval) {
  std::unique_ptr<Recorder> made(
      new Recorder(std::move(heading), std::move(files), devices, interval));
  const std::optional<std::string>& csv = made->files_.csv;
  if (!csv) {
    return made;
  }
  made->csv_.reset(*csv == "-" ? stdout : std::fopen(csv->c_str(), "w"));
  if (made->csv_ == nullptr || std::fputs(std::string(kUseHeader).c_str(), made->csv_.get()) < 0 ||
      std::fflush(made->csv_.get()) != 0) {
    return fail_errno(*csv, errno);
  }
  return made;
}

void Recorder::sampled(const std::vector<DeviceSample>& samples, Time at,
                       std::chrono::system_clock::time_point wall) {
  recording_.sampled(samples, at);
  // Readings come a little early or late; rows are due on a grid.
  if (csv_ == nullptr || at + interval_ / 10 < next_row_) {
    return;
  }
  next_row_ = at - next_row_ < interval_ ? next_row_ + interval_ : at + interval_;
  const std::string timestamp = use_timestamp(wall);
  std::string rows;
  for (std::size_t i = 0; i < std::min(samples.size(), listed_.size()); ++i) {
    if (listed_[i] && !samples[i].lost) {
      rows += use_row(devices_[i], samples[i], timestamp);
    }
  }
  // A reader that wants the newest reading gets it; an error is told at the end.
  (void)std::fwrite(rows.data(), 1, rows.size(), csv_.get());
  (void)std::fflush(csv_.get());
}

Result<std::vector<std::string>> Recorder::finish(Time at) {
  recording_.finish(at);
  std::vector<std::string> written;
  if (csv_ != nullptr) {
    if (std::ferror(csv_.get()) != 0) {
      return fail(ErrorCode::Io, fmt::format("{}: not all could be written", *files_.csv));
    }
    if (*files_.csv != "-") {
      written.push_back(*files_.csv);
    }
    csv_.reset();
  }
  const auto write = [&](const std::string& path, const std::string& text) {
    written.push_back(path);
    return write_whole(path, text);
  };
  if (files_.page) {
    if (Result<void> done = write(*files_.page, record_page(heading_, recording_)); !done) {
      return Failure(done.error());
    }
  }
  if (files_.gantt) {
    const Span span{recording_.begin(), recording_.end()};
    const std::string picture =
        occupation_chart(canvas_for(*files_.gantt), heading_, recording_, span);
    if (Result<void> done = write(*files_.gantt, picture); !done) {
      return Failure(done.error());
    }
  }
  if (files_.charts) {
    const std::string& path = *files_.charts;
    const std::size_t dot = path.rfind('.');
    for (const NamedChart& chart : record_charts(canvas_for(path), recording_)) {
      const std::string file =
          fmt::format("{}.{}{}", path.substr(0, dot), chart.name, path.substr(dot));
      if (Result<void> done = write(file, chart.picture); !done) {
        return Failure(done.error());
      }
    }
  }
  return written;
}

}  // namespace berth
