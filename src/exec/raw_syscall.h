// System calls for a child that still shares its parent's memory: no errno, no library, nothing
// that an instrumented build would add. A failed call returns the negative errno.
#pragma once

#include <sys/syscall.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define BERTH_UNSANITIZED __attribute__((no_sanitize_thread, no_sanitize_address, noinline))
#elif defined(__clang__)
// Clang has no such macros. Forbidding what a plain build does not add costs nothing.
#define BERTH_UNSANITIZED \
  __attribute__((no_sanitize("thread", "address", "undefined", "coverage"), noinline))
#else
#define BERTH_UNSANITIZED
#endif

namespace berth {

#if defined(__x86_64__)

BERTH_UNSANITIZED inline long raw_syscall(long number, long a = 0, long b = 0, long c = 0,
                                          long d = 0, long e = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
               : "rcx", "r11", "memory");
  return result;
}

#elif defined(__aarch64__)

BERTH_UNSANITIZED inline long raw_syscall(long number, long a = 0, long b = 0, long c = 0,
                                          long d = 0, long e = 0) {
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  asm volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
  return x0;
}

#else
#error "berth needs raw system calls for this architecture"
#endif

inline long raw_address(const void* pointer) { return reinterpret_cast<long>(pointer); }

}  // namespace berth
