// The task of `schedule`, as its user wrote it, as a command for the shell.
#pragma once

#include <string>
#include <string_view>

namespace berth {

/// A task over several lines is one command: its lines are joined. A task that is no command to a
/// shell, such as `train.py --model resnet(18)`, is what it was before a shell read tasks: its
/// words. Starts a shell to ask; to be called before any job is started.
std::string schedule_command_line(std::string_view task);

}  // namespace berth
