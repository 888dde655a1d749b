// The model that is part of the program; `make model` trains it again.
#include "base/check.h"
#include "rl/model_file.h"

asm(R"(
.section .rodata
.global berth_shipped_model
.global berth_shipped_model_end
berth_shipped_model:
.incbin ")" BERTH_SHIPPED_MODEL R"("
berth_shipped_model_end:
.previous
)");

extern "C" const char berth_shipped_model[];
extern "C" const char berth_shipped_model_end[];

namespace berth {

const Model& shipped_model() {
  static const Model model = [] {
    const auto size = static_cast<std::size_t>(berth_shipped_model_end - berth_shipped_model);
    Result<Model> parsed = parse_model({berth_shipped_model, size}, "the model of this berth");
    BERTH_CHECK(parsed.has_value());
    return std::move(*parsed);
  }();
  return model;
}

}  // namespace berth
