/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - what each command of `salvo` does; the table of them is in commands.c. */
#ifndef SALVO_COORDINATOR_COMMANDS_H
#define SALVO_COORDINATOR_COMMANDS_H

#include "coordinator/options.h"

struct error *cmd_run(const struct options *opts, FILE *out) _must_check_;
struct error *cmd_check(const struct options *opts, FILE *out) _must_check_;
struct error *cmd_hosts(const struct options *opts, FILE *out) _must_check_;
struct error *cmd_report(const struct options *opts, FILE *out) _must_check_;
struct error *cmd_keygen(const struct options *opts, FILE *out) _must_check_;
struct error *cmd_help(const struct options *opts, FILE *out) _must_check_;
struct error *cmd_version(const struct options *opts, FILE *out) _must_check_;

#endif
