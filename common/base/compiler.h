/* SPDX-License-Identifier: Apache-2.0 */
/* compiler.h - attributes and the few macros that the language lacks. */
#ifndef SALVO_BASE_COMPILER_H
#define SALVO_BASE_COMPILER_H

#include <assert.h>
#include <stddef.h>

/* clang-format off */
#define _cleanup_(fn)      __attribute__((cleanup(fn)))
#define _must_check_       __attribute__((warn_unused_result))
#define _printf_(f, a)     __attribute__((format(printf, f, a)))
#define _returns_nonnull_  __attribute__((returns_nonnull))
#define _noreturn_         __attribute__((noreturn))
/* Functions of the hot loop: no canary to set and check on every call. */
#define _hot_              __attribute__((hot, no_stack_protector))
#define _unused_           __attribute__((unused))
/* clang-format on */

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

enum { CACHELINE = 64 };

#define array_size(a) (sizeof(a) / sizeof((a)[0]))

/* Gives a guarded pointer away: returns it and leaves NULL behind for the cleanup handler. */
#define take_ptr(p)                               \
	({                                        \
		__auto_type take_ptr_value = (p); \
		(p) = NULL;                       \
		take_ptr_value;                   \
	})

#endif
