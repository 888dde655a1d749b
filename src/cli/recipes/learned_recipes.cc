#include "cli/recipes/learned_recipes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/peak_words.h"

namespace berth {
namespace {

constexpr std::size_t kLeastOfAnId = 3;
/// Fewer jobs that differ say nothing about a third one.
constexpr std::size_t kLeastCases = 3;

/// FNV-1a: short, and the same everywhere.
std::string id_of(std::string_view key) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : key) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  return fmt::format("{:08x}", (hash >> 32) ^ (hash & 0xffffffffU));
}

template <class T>
std::optional<T> middle_of(std::vector<T> values) {
  if (values.empty()) {
    return std::nullopt;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::optional<Bytes> LearnedRecipe::typical_peak() const {
  std::vector<Bytes> peaks;
  for (const PastRun& run : runs) {
    if (run.peak > Bytes{}) {
      peaks.push_back(run.peak);
    }
  }
  return middle_of(std::move(peaks));
}

std::optional<Duration> LearnedRecipe::typical_length() const {
  std::vector<Duration> lengths;
  for (const PastRun& run : runs) {
    if (run.length) {
      lengths.push_back(*run.length);
    }
  }
  return middle_of(std::move(lengths));
}

LearnedRecipes::LearnedRecipes(std::vector<PastRun> runs, double risk) : book_(risk) {
  std::map<std::string, std::size_t> last;  // when a recipe ran last, by its key
  for (std::size_t i = 0; i < runs.size(); ++i) {
    (void)book_.learn(runs[i].recipe, runs[i].peak);
    last[runs[i].recipe.key] = i;
  }
  std::vector<std::pair<std::size_t, std::string>> order;
  for (const auto& [key, at] : last) {
    order.emplace_back(at, key);
  }
  std::sort(order.rbegin(), order.rend());
  std::map<std::string, std::size_t> places;
  for (const auto& [at, key] : order) {
    const std::size_t line = key.find('\n');
    places[key] = all_.size();
    all_.push_back({id_of(key),
                    key.substr(0, line == key.npos ? 0 : line),
                    key.substr(line == key.npos ? 0 : line + 1),
                    {}});
  }
  for (PastRun& run : runs) {
    all_[places.at(run.recipe.key)].runs.push_back(std::move(run));
  }
}

Result<const LearnedRecipe*> LearnedRecipes::find(std::string_view word) const {
  const std::string masked = recipe_of("", word).key.substr(1);
  const LearnedRecipe* found = nullptr;
  for (const LearnedRecipe& recipe : all_) {
    const bool by_id = word.size() >= kLeastOfAnId && recipe.id.starts_with(word);
    if (!by_id && recipe.command != masked && recipe.command != word) {
      continue;
    }
    if (found != nullptr) {
      return fail(ErrorCode::Usage,
                  fmt::format("'{}' may be {} or {}: say which", word, found->id, recipe.id));
    }
    found = &recipe;
  }
  if (found == nullptr) {
    return fail(
        ErrorCode::NotFound,
        fmt::format("nothing is known about a recipe '{}' (berth recipes lists them)", word));
  }
  return found;
}

PeakEstimate LearnedRecipes::for_other_numbers(const LearnedRecipe& recipe) const {
  const RecipePeaks* peaks = book_.peaks(recipe.key());
  if (peaks == nullptr || peaks->model() == nullptr) {
    return {std::nullopt, 1};
  }
  const std::size_t width = recipe.runs.front().recipe.numbers.size();
  if (width > 0 && peaks->cases() < kLeastCases) {
    return {std::nullopt, static_cast<int>(kLeastCases - peaks->cases())};
  }
  std::vector<double> numbers;
  for (std::size_t place = 0; place < width; ++place) {
    std::vector<double> values;
    for (const PastRun& run : recipe.runs) {
      if (place < run.recipe.numbers.size()) {
        values.push_back(run.recipe.numbers[place]);
      }
    }
    numbers.push_back(*middle_of(std::move(values)));
  }
  return peaks->usable(numbers) ? peaks->model()->at(numbers) : PeakEstimate{std::nullopt, 1};
}

std::vector<std::string> LearnedRecipes::what_matters(const LearnedRecipe& recipe) const {
  const RecipePeaks* peaks = book_.peaks(recipe.key());
  std::vector<std::string> words;
  if (peaks == nullptr || peaks->model() == nullptr) {
    return words;
  }
  const std::vector<std::string> names = number_names(recipe.key());
  for (const PeakShape& shape : peaks->model()->fit().shapes()) {
    words.push_back(describe(shape, names));
  }
  return words;
}

}  // namespace berth
