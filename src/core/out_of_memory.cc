#include "core/out_of_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace berth {
namespace {

/// Words that programs leave behind, in lower case. Each names the GPU or its libraries: a bare
/// "out of memory" may be the machine's own.
constexpr std::array kComplaints = {
    std::string_view("cuda out of memory"),
    std::string_view("cuda error: out of memory"),
    std::string_view("cuda_error_out_of_memory"),
    std::string_view("cudaerrormemoryallocation"),
    std::string_view("cuda runtime error (2)"),
    std::string_view("torch.outofmemoryerror"),
    std::string_view("torch.cuda.outofmemoryerror"),
    std::string_view("hip out of memory"),
    std::string_view("hip error: out of memory"),
    std::string_view("hiperroroutofmemory"),
    std::string_view("hip_error_outofmemory"),
    std::string_view("cublas_status_alloc_failed"),
    std::string_view("cudnn_status_alloc_failed"),
    std::string_view("rocblas_status_memory_error"),
    std::string_view("resourceexhaustederror"),
    std::string_view("resource_exhausted: out of memory"),
    std::string_view("resource_exhausted: failed to allocate"),
    std::string_view("oom when allocating tensor"),
    std::string_view("cupy.cuda.memory.outofmemoryerror"),
};

/// What stands before the size that was asked for.
constexpr std::array kTried = {
    std::string_view("tried to allocate "),
    std::string_view("trying to allocate "),
    std::string_view("failed to allocate "),
    std::string_view("allocating "),
};

/// "2.00 GiB", "123 bytes", "1.50G": the size at the front of `text`; 0 where there is none.
Bytes size_at(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) {
    return {};
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  constexpr std::string_view kUnits = "kmgt";
  double scale = 1;
  if (const std::size_t unit = text.empty() ? kUnits.npos : kUnits.find(text.front());
      unit != kUnits.npos) {
    for (std::size_t i = 0; i <= unit; ++i) {
      scale *= 1024;
    }
  }
  constexpr double kMost = 1e15;
  return Bytes{static_cast<std::int64_t>(std::min(value * scale, kMost))};
}

}  // namespace

std::optional<MemoryComplaint> find_memory_complaint(std::string_view output) {
  std::string text(output.substr(output.size() - std::min(output.size(), kComplaintTail)));
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::size_t last = text.npos;
  for (const std::string_view words : kComplaints) {
    if (const std::size_t at = text.rfind(words);
        at != text.npos && (last == text.npos || at > last)) {
      last = at;
    }
  }
  if (last == text.npos) {
    return std::nullopt;
  }
  MemoryComplaint complaint;
  const std::string_view rest = std::string_view(text).substr(last);
  for (const std::string_view before : kTried) {
    if (const std::size_t at = rest.find(before); at != rest.npos && complaint.tried == Bytes{}) {
      complaint.tried = size_at(rest.substr(at + before.size()));
    }
  }
  return complaint;
}

std::string describe(const MemoryEnd& end) {
  switch (end.blame.cause) {
    case MemoryCause::Own:
      return end.wanted == Bytes{}
                 ? "it ran out of GPU memory"
                 : fmt::format("it ran out of GPU memory: it wanted {}", format_bytes(end.wanted));
    case MemoryCause::Neighbour:
      return fmt::format("it ran out of GPU memory because job {} used more than it claimed",
                         end.blame.offender.value);
    case MemoryCause::Foreign:
      return "it ran out of GPU memory because processes that are not berth's took it";
  }
  return "";
}

Blame blame(const MemoryScene& scene) {
  if (scene.claim == Bytes{}) {
    // It had from us all that others left, and that may have been too little.
    const bool would_fit = scene.foreign > Bytes{} && scene.peak > scene.total - scene.foreign &&
                           scene.peak <= scene.total;
    return {would_fit ? MemoryCause::Foreign : MemoryCause::Own, {}};
  }
  if (scene.peak > scene.claim) {
    return {MemoryCause::Own, {}};
  }
  // It was promised more than it got: somebody has more than was counted.
  Bytes worst;
  Blame neighbour{MemoryCause::Neighbour, {}};
  for (const MemoryScene::Neighbour& other : scene.neighbours) {
    if (other.used - other.claim > worst) {
      worst = other.used - other.claim;
      neighbour.offender = other.job;
    }
  }
  if (worst > Bytes{} && worst >= scene.foreign) {
    return neighbour;
  }
  return {scene.foreign > Bytes{} ? MemoryCause::Foreign : MemoryCause::Own, {}};
}

}  // namespace berth
