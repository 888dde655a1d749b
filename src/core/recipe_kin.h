// Which recipes are kin: the same program of the same project with the same numbers, told other
// words, as in `--model resnet50` and `--model resnet101`. What matters for the memory of one then
// most likely matters for that of the other.
#pragma once

#include <string>
#include <string_view>

namespace berth {

/// Recipes with equal families may be kin. The text only serves to be compared.
std::string family_of(std::string_view key);

/// How many words two recipes of one family have in common; 0: too few, or those that differ make
/// it another program.
int likeness(std::string_view key, std::string_view other);

}  // namespace berth
