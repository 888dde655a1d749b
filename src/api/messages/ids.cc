#include "api/messages/ids.h"

#include "api/messages/fields.h"

namespace berth {

template <class Io>
void fields(Io& io, In<Io, IdsReply>& reply) {
  io.version();
  io.required("count", reply.count);
  if constexpr (Io::kReads) {
    std::vector<std::vector<std::int64_t>> runs;
    io.required("runs", runs);
    for (const std::vector<std::int64_t>& run : runs) {
      if (run.size() != 3 || run[0] < 0 || run[1] < 0) {
        return io.wrong("runs must be lists of a number, how many there are, and the step");
      }
      reply.runs.push_back(
          {static_cast<std::uint64_t>(run[0]), static_cast<std::uint64_t>(run[1]), run[2]});
    }
  } else {
    io.field("runs", reply.runs);
  }
}

void write(JsonWriter& out, const IdsReply::Run& run) {
  out.array([&] {
    out.value(run.first);
    out.value(run.count);
    out.value(run.step);
  });
}

std::string to_json(const IdsReply& reply) { return written(reply); }
Result<IdsReply> parse_ids_reply(std::string_view json) { return read_message<IdsReply>(json); }

}  // namespace berth
