/* SPDX-License-Identifier: Apache-2.0 */
/* result_fields.h - the flat objects of result.json: which key is which member of which struct. The writer
 * and the reader go by the same tables, so that neither can know a key that the other does not. Data only.
 */
#ifndef SALVO_ARCHIVE_RESULT_FIELDS_H
#define SALVO_ARCHIVE_RESULT_FIELDS_H

#include "common/model/result.h"

enum json_kind {
	JSON_KIND_TEXT,   /* char *; NULL: absent */
	JSON_KIND_COUNT,  /* uint64_t */
	JSON_KIND_SIGNED, /* int64_t */
	JSON_KIND_REAL,   /* double; NAN: absent */
	JSON_KIND_FLAG,   /* bool; false: absent */
	JSON_KIND_STATUS, /* int; negative: absent */
	JSON_KIND_NAME,   /* int, written as its name; no name: absent */
};

enum json_field_flags {
	JSON_FIELD_REQUIRED = 1 << 0,
	JSON_FIELD_SKIP_ZERO = 1 << 1, /* COUNT: 0 says that it is not known, and is absent */
	JSON_FIELD_SKIP_MAX = 1 << 2,  /* COUNT: so does UINT64_MAX */
};

struct json_field {
	const char *name;
	enum json_kind kind;
	size_t offset;
	unsigned flags;
	const char *const *names; /* NAME */
	unsigned nr_names;
};

/* Each ends with { NULL }. */
extern const struct json_field run_json_fields[];        /* struct result */
extern const struct json_field host_json_fields[];       /* struct result_host */
extern const struct json_field clock_json_fields[];      /* struct result_host */
extern const struct json_field warning_json_fields[];    /* struct result_warning */
extern const struct json_field check_json_fields[];      /* struct result_check */
extern const struct json_field step_json_fields[];       /* struct result_step */
extern const struct json_field start_json_fields[];      /* struct result_step */
extern const struct json_field job_json_fields[];        /* struct result_job */
extern const struct json_field group_json_fields[];      /* struct result_group */
extern const struct json_field cpu_json_fields[];        /* struct result_group */
extern const struct json_field error_json_fields[];      /* struct result_error */
extern const struct json_field first_json_fields[];      /* struct result_error */
extern const struct json_field rates_json_fields[];      /* struct result_direction */
extern const struct json_field counts_json_fields[];     /* struct counts: of the window */
extern const struct json_field ramp_json_fields[];       /* struct counts */
extern const struct json_field drain_json_fields[];      /* struct counts */
extern const struct json_field unfinished_json_fields[]; /* struct counts */
extern const struct json_field unissued_json_fields[]; /* struct counts; only where there are any */
extern const struct json_field common_json_fields[];   /* struct result_direction */
extern const struct json_field samples_json_fields[];  /* struct sample_stats */
extern const struct json_field device_json_fields[];   /* struct result_device */
extern const struct json_field counters_json_fields[]; /* struct result_device: when it has any */
extern const struct json_field foreign_json_fields[];  /* struct result_device */
extern const struct json_field cached_json_fields[];   /* struct result_device */
extern const struct json_field stuck_json_fields[];    /* struct result_stuck */
extern const struct json_field summary_json_fields[];  /* struct result_summary */
extern const struct json_field metric_json_fields[];   /* struct result_metric */

#endif
