// How `berth recipes` prints what was learned: a table, one recipe, or JSON.
#pragma once

#include <span>
#include <string>

#include "cli/recipes/learned_recipes.h"
#include "cli/toolkit/terminal.h"

namespace berth {

using RecipeChoice = std::span<const LearnedRecipe* const>;

std::string recipes_table(const LearnedRecipes& learned, RecipeChoice chosen,
                          const Terminal& terminal);
std::string recipes_json(const LearnedRecipes& learned, RecipeChoice chosen);
/// Everything about one recipe, with its newest runs.
std::string recipe_text(const LearnedRecipes& learned, const LearnedRecipe& recipe,
                        const Terminal& terminal);

}  // namespace berth
