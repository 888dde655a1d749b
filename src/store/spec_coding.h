// What a job asks of the scheduler, as bytes. Only fields that are not at their defaults take room,
// so that most jobs are a byte or two. The format is in docs/formats.md.
#pragma once

#include <optional>

#include "core/job_spec.h"
#include "store/coding.h"

namespace berth {

void encode_spec(Encoder& out, const JobSpec& spec);
/// Nothing when the bytes make no sense; `in` knows whether there were enough of them.
std::optional<JobSpec> decode_spec(Decoder& in);

}  // namespace berth
