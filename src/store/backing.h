// Backing: the open database of a store, with its writer and its reader. The tables of the store
// ask it for a part at each call and keep none, because a store that writes its files anew replaces
// all parts at once.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "store/group.h"
#include "store/reader.h"
#include "store/store_files.h"
#include "store/writer.h"

namespace berth {

class Backing {
 public:
  /// Applies the changes that only the redo log has. See Store::open() for files that are refused.
  static Result<Backing> open(const std::string& path);

  Database& database() { return parts_->database; }
  const Counters& counters() { return parts_->writer->counters(); }
  Reader& reader() { return *parts_->reader; }
  Group& group() { return *parts_->group; }
  StoreFiles& files() { return *parts_->files; }

 private:
  /// Each part refers to the parts before it.
  struct Parts {
    explicit Parts(Database opened) : database(std::move(opened)) {}

    Database database;
    std::unique_ptr<Writer> writer;
    std::optional<Reader> reader;
    std::optional<Group> group;
    std::optional<StoreFiles> files;
  };

  explicit Backing(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

  std::unique_ptr<Parts> parts_;
};

}  // namespace berth
