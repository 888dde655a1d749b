#include "cli/daemon/user_files_command.h"

#include <charconv>

#include "daemon/user_files.h"

namespace berth {

int user_files_main(Words words) {
  uid_t user = 0;
  const std::string_view text = words.empty() ? "" : words.front();
  if (text.empty() || std::from_chars(text.data(), text.data() + text.size(), user).ptr !=
                          text.data() + text.size()) {
    return exit_code(ErrorCode::Usage);
  }
  return serve_user_files(user);
}

}  // namespace berth
