// System calls for a child that still shares its parent's memory: no errno, no library, nothing that
// an instrumented build would add.
#pragma once

#include <sys/syscall.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define BERTH_UNSANITIZED __attribute__((no_sanitize_thread, no_sanitize_address, noinline))
#else
#define BERTH_UNSANITIZED
#endif

namespace berth {

#if defined(__x86_64__)

BERTH_UNSANITIZED inline long raw_syscall(long number, long a = 0, long b = 0, long c = 0,
                                          long d = 0) {
  long result;
  register long r10 asm("r10") = d;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
               : "rcx", "r11", "memory");
  return result;
}

#elif defined(__aarch64__)

BERTH_UNSANITIZED inline long raw_syscall(long number, long a = 0, long b = 0, long c = 0,
                                          long d = 0) {
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  asm volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
}

#else
#error "berth needs raw system calls for this architecture"
#endif

}  // namespace berth
