#include "core/out_of_memory.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(MemoryComplaintTest, KnowsTheWordsOfTheLibraries) {
  for (
      const char* words : {
          "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; "
          "...)",
          "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has ...",
          "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB",
          "RuntimeError: HIP out of memory. Tried to allocate 2.00 GiB (GPU 0; 15.98 GiB total)",
          "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to "
          "allocate 2147483648 bytes.",
          "W external/local_tsl: failed to allocate memory\nRESOURCE_EXHAUSTED: Failed to allocate "
          "2147483648 bytes",
          "E cuda_driver.cc:828] CUDA_ERROR_OUT_OF_MEMORY: out of memory: failed to allocate 2.00G "
          "(2147483648 bytes)",
      }) {
    const auto found = find_memory_complaint(std::string("epoch 1\n") + words + "\n");
    ASSERT_TRUE(found.has_value()) << words;
    EXPECT_EQ(found->tried, gibibytes(2)) << words;
  }
  for (const char* words :
       {"tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating "
        "tensor "
        "with shape[64,512]",
        "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate(handle)",
        "cuDNN error: CUDNN_STATUS_ALLOC_FAILED", "hipErrorOutOfMemory",
        "an error: cudaErrorMemoryAllocation"}) {
    EXPECT_TRUE(find_memory_complaint(words).has_value()) << words;
  }
}

TEST(MemoryComplaintTest, IsNotMisledByOthers) {
  for (const char* words :
       {"", "Killed", "MemoryError", "out of memory: Killed process 12 (python)", "AssertionError",
        "loss 0.1 memory 12 GiB"}) {
    EXPECT_FALSE(find_memory_complaint(words).has_value()) << words;
  }
  // Long ago, and handled since.
  const std::string old = "CUDA out of memory" + std::string(2 * kComplaintTail, 'x');
  EXPECT_FALSE(find_memory_complaint(old).has_value());
}

MemoryScene scene(std::int64_t claim, std::int64_t peak, std::int64_t foreign) {
  return {gibibytes(24), gibibytes(claim), gibibytes(peak), gibibytes(foreign), {}};
}

TEST(BlameTest, ItsOwnClaimComesFirst) {
  MemoryScene shared = scene(4, 8, 10);
  shared.neighbours = {{JobId{7}, gibibytes(4), gibibytes(9)}};
  EXPECT_EQ(blame(shared).cause, MemoryCause::Own);
  EXPECT_EQ(blame(scene(0, 30, 0)).cause, MemoryCause::Own);
  EXPECT_EQ(blame(scene(0, 30, 5)).cause, MemoryCause::Own) << "it could never fit";
  EXPECT_EQ(blame(scene(8, 4, 0)).cause, MemoryCause::Own) << "nobody else was there";
}

TEST(BlameTest, NamesTheNeighbourThatIsFurthestBeyondItsClaim) {
  MemoryScene shared = scene(8, 6, 1);
  shared.neighbours = {{JobId{6}, gibibytes(4), gibibytes(4)},
                       {JobId{7}, gibibytes(4), gibibytes(9)},
                       {JobId{8}, gibibytes(4), gibibytes(5)}};
  EXPECT_EQ(blame(shared).cause, MemoryCause::Neighbour);
  EXPECT_EQ(blame(shared).offender, JobId{7});
}

TEST(BlameTest, OrThoseThatAreNotOurs) {
  MemoryScene shared = scene(8, 6, 10);
  shared.neighbours = {{JobId{7}, gibibytes(4), gibibytes(4)}};
  EXPECT_EQ(blame(shared).cause, MemoryCause::Foreign);
  EXPECT_EQ(blame(scene(0, 20, 10)).cause, MemoryCause::Foreign) << "alone it would have fitted";
}

}  // namespace
}  // namespace berth
