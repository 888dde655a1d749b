// The tables, and how a database file is opened, created and brought up to date.
#pragma once

#include <span>
#include <string>

#include "store/sqlite.h"

namespace berth {

/// One step from a version of the schema to the next. Steps are never changed once released.
using MigrationStep = Result<void> (*)(Database&);

/// steps[n] leads from version n to n + 1; version 0 is an empty file. Tests use their own steps.
std::span<const MigrationStep> migration_steps();

/// Opens or creates the database for this process alone. A file that is not a sound berth database,
/// or that a newer berth wrote, is refused and left unchanged, to the byte.
Result<Database> open_database(const std::string& path,
                               std::span<const MigrationStep> steps = migration_steps());

/// "BRTH", in the header of every berth database.
inline constexpr int kApplicationId = 0x42525448;

}  // namespace berth
