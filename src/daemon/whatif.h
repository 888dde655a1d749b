// Whatif: a simulation for a client, in a process of its own, so that no job waits for it, however
// long it takes. Only one runs at a time, at low priority. It ends with its client or when its time
// is over.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "api/http_server.h"
#include "base/fd.h"
#include "base/time.h"

namespace berth {

class Whatif {
 public:
  explicit Whatif(Loop& loop) : loop_(loop) {}
  ~Whatif();

  bool busy() const { return pid_ != 0; }

  /// Runs this program with these arguments; its output is the answer. Must not be called while
  /// busy.
  void start(const std::vector<std::string>& words, std::unique_ptr<Responder> reply, Time now);

  /// Ends the simulation if its client has gone or its time is over. Call it whenever something has
  /// happened, and at deadline().
  void check(Time now);
  Time deadline() const { return busy() ? until_ : kNever; }

 private:
  void read_output();
  void finish();
  void answer(HttpResponse response);

  Loop& loop_;
  pid_t pid_ = 0;
  Fd output_;
  Fd errors_;  // a file in memory
  std::string text_;
  std::unique_ptr<Responder> reply_;  // null: answered already, or the client has gone
  Time until_ = kNever;
};

}  // namespace berth
