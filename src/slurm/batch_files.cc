#include "slurm/batch_files.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <chrono>

namespace berth {

void BatchFiles::write(const std::string& folder, std::shared_ptr<const BatchOrder> order,
                       std::function<void(const std::string&)> done) {
  chores_.add([this, folder, order = std::move(order), done = std::move(done)]() -> Chores::Finish {
    const Result<void> written = write_batch(folder, *order);
    if (written) {
      scout_.add(folder);
    }
    return [done, problem = written ? "" : written.error().message] { done(problem); };
  });
}

void BatchFiles::confirm(const std::string& folder) {
  chores_.add([folder]() -> Chores::Finish {
    write_confirmed(folder);
    return {};
  });
}

void BatchFiles::mark_stop(const std::string& folder, std::uint32_t index) {
  chores_.add([mark = fmt::format("{}/x/k{}", folder, index)]() -> Chores::Finish {
    const Fd made(::open(mark.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    return {};
  });
}

void BatchFiles::withdraw(const std::string& folder, std::uint32_t index,
                          std::function<void(bool)> done) {
  chores_.add([folder, index, done = std::move(done)]() -> Chores::Finish {
    return [done, withdrawn = berth::withdraw(folder, index)] { done(withdrawn); };
  });
}

void BatchFiles::try_lock(const std::string& folder, std::uint32_t index,
                          std::function<void(bool)> done) {
  chores_.add([folder, index, done = std::move(done)]() -> Chores::Finish {
    return [done, free = lock_is_free(folder, index)] { done(free); };
  });
}

void BatchFiles::remove(const std::string& folder) {
  chores_.add([this, folder]() -> Chores::Finish {
    scout_.drop(folder);
    remove_batch(folder);
    return {};
  });
}

void BatchFiles::look(std::function<void(const Records&, std::chrono::nanoseconds)> done) {
  chores_.add([this, done = std::move(done)]() -> Chores::Finish {
    const auto began = std::chrono::steady_clock::now();
    Records found = scout_.look();
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - began;
    return [done, found = std::move(found), took] { done(found, took); };
  });
}

BatchFiles::Records BatchFiles::adopt(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    scout_.add(folder);
  }
  return scout_.look();
}

}  // namespace berth
