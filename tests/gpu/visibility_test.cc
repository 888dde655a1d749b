// Which devices a mask shows, and which variables show devices.
#include "gpu/visibility.h"

#include <gtest/gtest.h>

#include "gpu/job_environment.h"

namespace berth {
namespace {

DeviceInfo device(const std::string& name, const std::string& uuid,
                  DeviceFamily family = DeviceFamily::Nvidia) {
  DeviceInfo info;
  info.spec.name = name;
  info.spec.uuid = uuid;
  info.family = family;
  info.visible = uuid.empty() ? name : uuid;
  return info;
}

struct MaskCase {
  const char* name;
  const char* mask;
  std::vector<std::size_t> shown;

  friend std::ostream& operator<<(std::ostream& out, const MaskCase& row) {
    return out << row.name;
  }
};

class MaskTest : public ::testing::TestWithParam<MaskCase> {};

TEST_P(MaskTest, ShowsAsCudaDoes) {
  const std::vector<DeviceInfo> devices = {device("0", "GPU-aa11"), device("1", "GPU-aa22"),
                                           device("2:0", "MIG-bb11"), device("2:1", "MIG-bb22"),
                                           device("3", "")};
  EXPECT_EQ(apply_mask(GetParam().mask, devices), GetParam().shown);
}

INSTANTIATE_TEST_SUITE_P(
    Masks, MaskTest,
    ::testing::Values(MaskCase{"empty_hides_all", "", {}}, MaskCase{"index", "1", {1}},
                      MaskCase{"order_is_the_masks", "3,0,1", {4, 0, 1}},
                      MaskCase{"uuid", "GPU-aa22,GPU-aa11", {1, 0}},
                      MaskCase{"beginning_of_uuid", "GPU-aa2", {1}},
                      MaskCase{"ambiguous_beginning", "GPU-aa", {}},
                      MaskCase{"no_short_names", "GPU-", {}}, MaskCase{"mig_uuid", "MIG-bb22", {3}},
                      MaskCase{"index_of_a_split_device", "2", {2, 3}},
                      MaskCase{"wrong_hides_the_rest", "1,9,0", {1}},
                      MaskCase{"minus_one", "-1,0", {}}, MaskCase{"negative_later", "0,-1,1", {0}},
                      MaskCase{"again_hides_the_rest", "1,1,0", {1}},
                      MaskCase{"NoDevFiles", "NoDevFiles", {}}),
    [](const auto& row) { return std::string(row.param.name); });

using Variables = std::map<std::string, std::optional<std::string>>;

TEST(VisibilityTest, Nvidia) {
  const std::vector<DeviceInfo> leased = {device("1", "GPU-b"), device("0", "GPU-a")};
  EXPECT_EQ(visibility(leased), (Variables{{"CUDA_VISIBLE_DEVICES", "GPU-b,GPU-a"},
                                           {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}}));
}

TEST(VisibilityTest, TrustedIdsStayAsTheyAre) {
  const std::vector<DeviceInfo> leased = {device("foo", "", DeviceFamily::Trusted)};
  EXPECT_EQ(visibility(leased).at("CUDA_VISIBLE_DEVICES"), "foo");
}

TEST(VisibilityTest, SlotsOfSeveralDevicesAndOfNone) {
  const DeviceInfo pair = device("0,1", "", DeviceFamily::Trusted);
  const DeviceInfo other = device("1,2", "", DeviceFamily::Trusted);
  const DeviceInfo none = device("", "", DeviceFamily::Trusted);
  EXPECT_EQ(visibility(std::vector{pair}).at("CUDA_VISIBLE_DEVICES"), "0,1");
  EXPECT_EQ(visibility(std::vector{pair, other}).at("CUDA_VISIBLE_DEVICES"), "0,1,2");
  EXPECT_EQ(visibility(std::vector{none}).at("CUDA_VISIBLE_DEVICES"), "");
}

TEST(VisibilityTest, TheUsersOrderStaysWhereItMeansTheSame) {
  const std::vector<DeviceInfo> known = {device("0", "GPU-a")};
  const std::vector<DeviceInfo> trusted = {device("0", "", DeviceFamily::Trusted)};
  const std::vector<DeviceInfo> numbered = {device("0", "")};
  const EnvironmentChanges ours = {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}, {"OTHER", "x"}};
  for (const auto& leased : {known, trusted}) {
    EnvironmentChanges changes = ours;
    EXPECT_TRUE(keep_device_order(changes, "FASTEST_FIRST", leased));
    EXPECT_EQ(changes, (EnvironmentChanges{{"OTHER", "x"}}));
    changes = ours;
    EXPECT_TRUE(keep_device_order(changes, "", leased));
    EXPECT_EQ(changes, ours);
  }
  EnvironmentChanges changes = ours;
  EXPECT_FALSE(keep_device_order(changes, "FASTEST_FIRST", numbered));
  EXPECT_EQ(changes, ours);
  EXPECT_TRUE(keep_device_order(changes, "PCI_BUS_ID", numbered));
}

TEST(VisibilityTest, TwoSlotsOfOneDeviceShowItOnce) {
  const std::vector<DeviceInfo> leased = {device("0", "GPU-a"), device("0", "GPU-a")};
  EXPECT_EQ(visibility(leased).at("CUDA_VISIBLE_DEVICES"), "GPU-a");
}

TEST(VisibilityTest, Amd) {
  const std::vector<DeviceInfo> leased = {device("0", "GPU-1234", DeviceFamily::Amd)};
  EXPECT_EQ(visibility(leased), (Variables{{"ROCR_VISIBLE_DEVICES", "GPU-1234"},
                                           {"HIP_VISIBLE_DEVICES", std::nullopt},
                                           {"GPU_DEVICE_ORDINAL", std::nullopt},
                                           {"CUDA_VISIBLE_DEVICES", std::nullopt}}));
}

TEST(VisibilityTest, NoDevicesHideEverything) {
  const Variables variables = visibility({});
  EXPECT_EQ(variables.at("CUDA_VISIBLE_DEVICES"), "");
  EXPECT_EQ(variables.at("ROCR_VISIBLE_DEVICES"), "");
}

}  // namespace
}  // namespace berth
