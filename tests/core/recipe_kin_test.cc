#include "core/recipe_kin.h"

#include <gtest/gtest.h>

#include "core/recipe.h"

namespace berth {
namespace {

struct Row {
  const char* name;
  const char* one;
  const char* other;
  bool kin;
};

TEST(RecipeKinTest, WordsMayDifferButNotTheProgram) {
  for (const Row& row : {
           Row{"another model", "train.py --model resnet50 --batch 8",
               "train.py --model resnet101 --batch 64", true},
           Row{"joined by =", "python train.py --model=a --batch=8",
               "python train.py --model=b --batch=9", true},
           Row{"another program", "./train --model a --batch 8", "./test --model a --batch 8",
               false},
           Row{"another script", "python -u train.py --x a --batch 8",
               "python -u test.py --x a --batch 8", false},
           Row{"another module", "python -m a.train --batch 8", "python -m b.train --batch 8",
               false},
           Row{"another option", "train.py --model a --batch 8", "train.py --model a --width 8",
               false},
           Row{"one option more", "train.py --model a --batch 8",
               "train.py --model a --amp --batch 8", false},
           Row{"nearly all differs", "x a b c d e f 1", "x g h i j k l 1", false},
       }) {
    const std::string one = recipe_of("p", row.one).key;
    const std::string other = recipe_of("p", row.other).key;
    EXPECT_EQ(family_of(one) == family_of(other) && likeness(one, other) > 0, row.kin) << row.name;
  }
  EXPECT_NE(family_of(recipe_of("p", "x a 1").key), family_of(recipe_of("q", "x a 1").key));
}

TEST(RecipeKinTest, MoreCommonWordsAreMoreAlike) {
  EXPECT_GT(likeness("\nx --model a --data b #", "\nx --model a --data c #"),
            likeness("\nx --model a --data b #", "\nx --model d --data c #"));
}

}  // namespace
}  // namespace berth
