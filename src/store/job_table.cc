#include "store/job_table.h"

#include "store/backing.h"
#include "store/fields.h"

namespace berth {

JobId JobTable::next_id() const { return JobId{backing_.counters().next_id}; }

Result<void> JobTable::insert(JobId first, std::uint32_t count, JobDescription description,
                              Time submitted) {
  Environment environment = share_environment(description.environment);
  return insert(first, count, std::move(description), std::move(environment), submitted);
}

JobTable::Environment JobTable::share_environment(const std::vector<std::string>& variables) {
  return std::make_shared<const std::string>(encode_list(variables));
}

Result<void> JobTable::insert(JobId first, std::uint32_t count, JobDescription description,
                              Environment environment, Time submitted) {
  description.environment = {};
  const std::uint16_t weight = description.spec.weight;
  Result<void> inserted = backing_.group().add(InsertJobs{
      first, count, submitted, std::make_unique<const JobDescription>(std::move(description)),
      std::move(environment)});
  if (!inserted || weight == 1) {
    return inserted;
  }
  return backing_.group().add(SetWeight{first, count, weight});
}

Result<void> JobTable::check(const JobDescription& description, const Environment& environment) {
  return check_texts(description, environment->size());
}

Result<void> JobTable::remember_token(uid_t user, std::string token, Submission submission) {
  return backing_.group().add(RememberToken{user, std::move(token), submission});
}

Result<std::optional<Submission>> JobTable::find_token(uid_t user, std::string_view token) {
  return backing_.reader().find_token(user, token);
}

Result<void> JobTable::set_waiting(JobId job, bool held, Time not_before) {
  return backing_.group().add(SetWaiting{job, held, not_before});
}

Result<void> JobTable::amend(JobId job, JobSpec spec, std::string name, std::string command) {
  const std::uint16_t weight = spec.weight;
  Result<void> amended =
      backing_.group().add(Amend{job, std::move(spec), std::move(name), std::move(command)});
  return amended ? backing_.group().add(SetWeight{job, 1, weight}) : amended;
}

Result<void> JobTable::set_claim(JobId job, Bytes memory, std::uint8_t memory_retries) {
  return backing_.group().add(SetClaim{job, memory, memory_retries});
}

Result<void> JobTable::end(JobId job, Ending ending) {
  return backing_.group().add(EndJob{job, std::move(ending)});
}

Result<Forgotten> JobTable::forget(const ForgetQuery& query) {
  Result<Forgotten> found = backing_.reader().find_forgettable(query);
  if (found && !found->jobs.empty()) {
    if (const Result<void> added = backing_.group().add(ForgetJobs{found->jobs}); !added) {
      return Failure(added.error());
    }
  }
  return found;
}

Result<void> JobTable::for_each_live(const std::function<void(const LiveJob&)>& visit) {
  const PhaseCounts& numbers = counts();
  std::uint64_t live = 0;
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < kPhases; ++i) {
    all += numbers[i];
    live += is_live(static_cast<JobPhase>(i)) ? numbers[i] : 0;
  }
  return backing_.reader().for_each_live(live < all / 8, visit);
}

Result<JobRecord> JobTable::record(JobId id) { return backing_.reader().job(id, true); }

Result<JobRecord> JobTable::record_without_environment(JobId id) {
  return backing_.reader().job(id, false);
}

Result<JobPhase> JobTable::phase(JobId id) { return backing_.reader().phase(id); }

Result<JobPage> JobTable::list(const JobQuery& query) { return backing_.reader().list(query); }

const PhaseCounts& JobTable::counts() const { return backing_.counters().by_phase; }

}  // namespace berth
