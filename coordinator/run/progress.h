/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - what a waiting person sees on stderr: one line redrawn on a terminal, one line per ten
 * seconds elsewhere. Results never go here.
 */
#ifndef SALVO_RUN_PROGRESS_H
#define SALVO_RUN_PROGRESS_H

#include "coordinator/run/run.h"

#include <stdio.h>

struct progress;

/* `plan` is borrowed. `out` is a terminal or not: that decides how it is drawn. */
struct progress *progress_new(const struct plan *plan, FILE *out) _returns_nonnull_;
void progress_destroy(struct progress **self_p);

/* Draws if it is time to. May be called as often as one likes. */
void progress_update(struct progress *p, const struct run_view *view,
		     const struct collector *collector, uint64_t now_ns);
/* Clears the line; nothing is drawn any more. */
void progress_end(struct progress *p);

/* A line of its own that stays. */
void progress_say(struct progress *p, const char *fmt, ...) _printf_(2, 3);

/* The line's text; owned by the caller. `live` may be NULL: nothing is measured yet. */
char *progress_text(const struct plan *plan, const struct run_view *view, const struct live *live,
		    uint64_t now_ns) _returns_nonnull_;

#endif
