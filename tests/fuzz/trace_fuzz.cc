// Traces, machines and made-up workloads: any text is read or refused, and what was read and is
// written is read again as the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "sim/machine.h"
#include "sim/trace.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace berth;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  TraceOptions options;
  options.skip_bad = size % 2 == 0;
  for (const std::string path : {"t.csv", "t.swf"}) {
    const Result<Trace> trace = parse_trace(text, path, options);
    if (!trace) {
      continue;
    }
    const Result<Trace> again = parse_trace(to_csv(trace->workload), "t.csv", {});
    BERTH_CHECK(again.has_value());
    BERTH_CHECK(again->workload.jobs.size() == trace->workload.jobs.size());
  }
  if (const Result<Machine> machine = parse_machine(text.substr(0, 64))) {
    BERTH_CHECK(!machine->empty());
  }
  return 0;
}
