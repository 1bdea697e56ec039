/* SPDX-License-Identifier: Apache-2.0 */
/* cpulist.h - a set of processors as people and the kernel write it: "0-3,8". Pure; any thread. */
#ifndef SALVO_BASE_CPULIST_H
#define SALVO_BASE_CPULIST_H

#include "common/base/error.h"

#include <sched.h>

/* Numbers and ranges, separated by commas, below CPU_SETSIZE. The error says what is wrong with the text. */
struct error *cpulist_parse(const char *text, cpu_set_t *ret) _must_check_;

#endif
