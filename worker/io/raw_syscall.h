/* SPDX-License-Identifier: Apache-2.0 */
/* raw_syscall.h - a system call without libc's wrapper: -errno comes back instead of going through errno.
 *
 * For calls that are made per batch of I/Os, where the wrapper's instructions count. Unused arguments are 0;
 * pointers are passed as (long)pointer.
 */
#ifndef SALVO_IO_RAW_SYSCALL_H
#define SALVO_IO_RAW_SYSCALL_H

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
/* NOLINTNEXTLINE(readability-function-size): a system call has that many arguments */
static inline long raw_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}
#else
static inline long raw_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret = syscall(nr, a, b, c, d, e, f);

	return ret < 0 ? -errno : ret;
}
#endif

#endif
