// What the store costs: submissions in bulk and one by one, a restart with a million queued jobs,
// and pages of lists among them. Usage: store_bench [JOBS [FOLDER]]. Rates depend on the disk under
// FOLDER; the figure beside the single commits is what the disk alone needs to sync as often.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <vector>

#include "base/fd.h"
#include "store/store.h"

namespace berth {
namespace {

using Clock = std::chrono::steady_clock;

template <class T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "store_bench: {}\n", result.error().message);
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) {
    return std::move(*result);
  }
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

template <class Work>
double seconds(Work work) {
  const Clock::time_point start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

JobDescription usual_job() {
  JobDescription job;
  job.project = "vision";
  job.directory = "/home/someone/projects/vision";
  for (int i = 0; i < 40; ++i) {
    job.environment.push_back(fmt::format("SOME_VARIABLE_{}=/usr/lib/a/value/of/usual/length", i));
  }
  job.user = 1000;
  return job;
}

JobDescription small_job(std::uint64_t number) {
  static const JobDescription usual = usual_job();
  JobDescription job = usual;
  job.name = fmt::format("train-{}", number);
  job.command =
      fmt::format("python train.py --lr 0.00{} --batch 64 --seed {}", number % 10, number);
  job.spec.needs.memory = gibibytes(static_cast<std::int64_t>(number % 8));
  return job;
}

constexpr Time kStart{std::chrono::seconds(1'700'000'000)};

Time submitted(std::uint64_t number) {
  return kStart + std::chrono::microseconds(static_cast<std::int64_t>(number));
}

/// What the store took: on the clock, and of the processor, which busy machines change less.
struct Taken {
  double wall = 0;
  double cpu = 0;
};

/// One submission of many different jobs.
void submit(Store& store, std::uint64_t jobs, Taken& taken) {
  const JobId first = store.jobs().next_id();
  std::vector<JobDescription> descriptions;
  descriptions.reserve(jobs);
  for (std::uint64_t i = 0; i < jobs; ++i) {
    descriptions.push_back(small_job(first.value + i));
  }
  const double cpu = cpu_seconds();
  taken.wall += seconds([&] {
    for (std::uint64_t i = 0; i < jobs; ++i) {
      const JobId id{first.value + i};
      must(store.jobs().insert(id, 1, std::move(descriptions[i]), submitted(id.value)));
    }
    must(store.journal().append(submitted(first.value),
                                Submit{{}, first, static_cast<std::uint32_t>(jobs)}));
    must(store.commit());
  });
  taken.cpu += cpu_seconds() - cpu;
}

void page(Store& store, std::string_view what, const JobQuery& query) {
  constexpr int kTimes = 20;
  std::size_t found = 0;
  const double taken = seconds([&] {
    for (int i = 0; i < kTimes; ++i) {
      found = must(store.jobs().list(query)).jobs.size();
    }
  });
  fmt::print("{:<44} {:>10.3f} ms  ({} jobs)\n", what, taken / kTimes * 1e3, found);
}

void pages(Store& store, std::uint64_t jobs) {
  JobQuery query;
  page(store, "page of 100, first", query);
  query.after = JobCursor{JobId{jobs - 200}};
  page(store, "page of 100, near the end", query);
  query.filter.phases = {JobPhase::Held, JobPhase::Queued, JobPhase::Starting, JobPhase::Running};
  page(store, "page of 100, live, near the end", query);
  query.filter.project = "vision";
  page(store, "page of 100, live of a project", query);
  query = {};
  query.order = JobOrder::ByEnd;
  query.descending = true;
  page(store, "page of 100, the last that ended", query);
  query = {};
  query.filter.phases = {JobPhase::Running};
  page(store, "running, among them all", query);
  query = {};
  query.filter.names = {"nothing*"};
  page(store, "a name that matches nothing (reads all)", query);
}

double sync_seconds(const std::string& path, int times) {
  const Fd file(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  const std::string block(4096, 'x');
  return seconds([&] {
    for (int i = 0; i < times; ++i) {
      if (::write(file.get(), block.data(), block.size()) < 0 || ::fdatasync(file.get()) != 0) {
        std::exit(1);
      }
    }
  });
}

void run(const std::string& folder, std::uint64_t jobs) {
  const std::string path = folder + "/berth.db";
  std::unique_ptr<Store> store = must(Store::open(path));
  constexpr std::uint64_t kBatch = 10'000;
  Taken bulk;
  for (std::uint64_t done = 0; done < jobs; done += kBatch) {
    submit(*store, kBatch, bulk);
  }
  fmt::print("{:<44} {:>10.0f} jobs/s  ({:.0f} per second of the processor)\n",
             "submissions of 10000 with commit", static_cast<double>(jobs) / bulk.wall,
             static_cast<double>(jobs) / bulk.cpu);
  const double array = seconds([&] {
    JobDescription description = small_job(0);
    description.array_index = 0;
    must(store->jobs().insert(store->jobs().next_id(), 100'000, description, kStart));
    must(store->commit());
  });
  fmt::print("{:<44} {:>10.0f} jobs/s\n", "an array of 100000", 100'000 / array);
  for (int i = 0; i < 1000; ++i) {
    const JobId id{static_cast<std::uint64_t>(i * 7 + 1)};
    must(store->attempts().begin({id, 1, {"0"}, kStart, kNever, 0, "/tmp/log", "", {}}));
    must(store->attempts().start(id, 1, 4711, kStart));
    if (i >= 8) {
      Ending end;
      end.outcome = Outcome::Succeeded;
      end.ended = submitted(jobs + id.value);
      must(store->attempts().end(id, 1, end));
      must(store->jobs().end(id, end));
    }
  }
  must(store->commit());
  constexpr int kSingles = 2000;
  Taken single;
  for (int i = 0; i < kSingles; ++i) {
    submit(*store, 1, single);
  }
  const double bare = sync_seconds(folder + "/sync", kSingles);
  fmt::print("{:<44} {:>10.0f} /s  (write and sync alone: {:.0f} /s)\n", "submit and commit one",
             kSingles / single.wall, kSingles / bare);

  store.reset();
  const double bytes = static_cast<double>(std::filesystem::file_size(path));
  std::uint64_t live = 0;
  std::uint64_t sum = 0;
  const double opened = seconds([&] { store = must(Store::open(path)); });
  const double restart = seconds([&] {
    must(store->jobs().for_each_live([&](const LiveJob& job) {
      ++live;
      sum += job.spec.needs.gpus;
    }));
  });
  fmt::print("{:<44} {:>10.1f} bytes\n", "on disk per job",
             bytes / static_cast<double>(store->jobs().next_id().value - 1));
  fmt::print("{:<44} {:>10.3f} s  (open {:.3f} s; {} jobs, {} GPUs)\n", "restart", restart, opened,
             live, sum);
  pages(*store, jobs);
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  fmt::print("{:<44} {:>10} MiB\n", "memory at its highest", usage.ru_maxrss / 1024);
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  const std::uint64_t jobs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  std::string folder =
      (argc > 2 ? std::string(argv[2]) : std::string("/tmp")) + "/store-bench-XXXXXX";
  if (jobs < 10'000 || ::mkdtemp(folder.data()) == nullptr) {
    fmt::print(stderr, "usage: store_bench [JOBS (10000 at least) [FOLDER]]\n");
    return 2;
  }
  berth::run(folder, jobs);
  std::filesystem::remove_all(folder);
  return 0;
}
