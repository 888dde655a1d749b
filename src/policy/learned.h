// The learned policy: of the first waiting jobs in the default's order (policy/window_order.h), the
// one that a model ranks first goes next (rl/model.h). If that job does not fit, the model has
// chosen to wait for it: it gets a reservation, and only what does not delay it goes past.
//
// A guard keeps any model, even a hostile one, from starving anybody. A job is due at the end of
// its window and the model's grace after that (ten days unless a model says less). From then on it
// goes first, whatever the model says, and has the reservation; jobs that are due go by when they
// were due. So a job that comes after another was due never delays it. Where a model's ranks are
// not numbers, the default's order decides.
#pragma once

#include <memory>
#include <string_view>

#include "core/policy.h"
#include "rl/model.h"

namespace berth {

struct LearnedOptions {
  Duration aging = std::chrono::hours(24 * 8);  // see PriorityOptions
  Duration half_life = std::chrono::hours(24);  // after which an owner's use counts half
  Duration patience = std::chrono::hours(1);    // see BackfillOptions
};

/// Why a learned policy's model is not believed; empty: it is, or this is another policy.
std::string_view model_trouble(const Policy& policy);

/// The model must have as many weights as its kind wants.
std::unique_ptr<Policy> make_learned(Model model, const LearnedOptions& options = {});

}  // namespace berth
