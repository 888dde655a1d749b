// Questions to the person at the terminal.
#pragma once

#include <string>
#include <string_view>

namespace berth {

/// Whether somebody can be asked: standard input and error are a terminal.
bool can_ask();
/// Prints "QUESTION [y/N] ", and waits for the answer.
bool is_agreed(std::string_view question);
/// A line of standard input, without its end. Empty at the end of the input.
std::string read_answer();

}  // namespace berth
