/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/archive/result_fields.h"

#include "common/schema/schema.h"

/* clang-format off */
#define TEXT(T, m, ...)   { #m, JSON_KIND_TEXT,   MEMBER(T, m, char *), ##__VA_ARGS__ }
#define COUNT(T, m, ...)  { #m, JSON_KIND_COUNT,  MEMBER(T, m, uint64_t), ##__VA_ARGS__ }
#define REAL(T, m, ...)   { #m, JSON_KIND_REAL,   MEMBER(T, m, double), ##__VA_ARGS__ }
#define FLAG(T, m)        { #m, JSON_KIND_FLAG,   MEMBER(T, m, bool) }
/* The key is not called like the member. */
#define TEXT_AS(T, key, m, ...)  { key, JSON_KIND_TEXT,  MEMBER(T, m, char *), ##__VA_ARGS__ }
#define COUNT_AS(T, key, m, ...) { key, JSON_KIND_COUNT, MEMBER(T, m, uint64_t), ##__VA_ARGS__ }
#define REAL_AS(T, key, m, ...)  { key, JSON_KIND_REAL,  MEMBER(T, m, double), ##__VA_ARGS__ }
#define FLAG_AS(T, key, m)       { key, JSON_KIND_FLAG,  MEMBER(T, m, bool) }
#define NAME_AS(T, key, m, f, list, nr) { key, JSON_KIND_NAME, MEMBER(T, m, int), f, list, nr }
#define REQUIRED JSON_FIELD_REQUIRED

#define T struct result
const struct json_field run_json_fields[] = {
	TEXT(T, id, REQUIRED), TEXT(T, name), TEXT(T, description),
	NAME_AS(T, "status", status, REQUIRED, run_status_names, RUN_FAILED + 1),
	{ "exit_status", JSON_KIND_STATUS, MEMBER(T, exit_status, int) },
	TEXT(T, started), TEXT(T, ended), TEXT(T, version),
	{ NULL }
};
#undef T

#define T struct result_host
const struct json_field host_json_fields[] = {
	TEXT(T, name, REQUIRED), TEXT(T, address), TEXT(T, role),
	NAME_AS(T, "state", state, REQUIRED, host_state_names, HOST_HUNG + 1),
	COUNT(T, lost_at_ns, JSON_FIELD_SKIP_ZERO),
	{ NULL }
};
const struct json_field clock_json_fields[] = {
	{ "offset_ns", JSON_KIND_SIGNED, MEMBER(T, clock_offset_ns, int64_t), REQUIRED },
	COUNT_AS(T, "error_ns", clock_error_ns, REQUIRED),
	REAL_AS(T, "drift_ppb", clock_drift_ppb),
	{ NULL }
};
#undef T

#define T struct result_warning
const struct json_field warning_json_fields[] = {
	TEXT(T, host), TEXT(T, target), TEXT(T, text, REQUIRED), FLAG_AS(T, "fault", is_fault),
	{ NULL }
};
#undef T

#define T struct result_check
const struct json_field check_json_fields[] = {
	TEXT(T, text, REQUIRED), COUNT(T, repeat, REQUIRED), TEXT(T, phase, REQUIRED),
	NAME_AS(T, "state", state, REQUIRED, check_state_names, CHECK_SKIPPED + 1),
	REAL(T, value), TEXT(T, why),
	{ NULL }
};
#undef T

#define T struct result_step
const struct json_field step_json_fields[] = {
	COUNT(T, repeat, REQUIRED), TEXT(T, phase, REQUIRED), FLAG(T, partial),
	TEXT_AS(T, "hosts", hosts_text), REAL(T, overlap), REAL(T, min_overlap),
	{ NULL }
};
const struct json_field start_json_fields[] = {
	COUNT_AS(T, "spread_ns", start_spread_ns, REQUIRED),
	COUNT_AS(T, "error_ns", start_error_ns, REQUIRED),
	TEXT_AS(T, "last_host", start_last_host, REQUIRED),
	{ NULL }
};
#undef T

#define T struct result_job
const struct json_field job_json_fields[] = {
	TEXT(T, name, REQUIRED), TEXT(T, group), TEXT(T, hosts, REQUIRED), TEXT(T, targets, REQUIRED),
	{ NULL }
};
#undef T

#define T struct result_group
const struct json_field group_json_fields[] = {
	TEXT(T, name, REQUIRED), COUNT(T, threads, REQUIRED), COUNT(T, buffered_threads),
	COUNT(T, runtime_ns, REQUIRED), COUNT(T, depth), COUNT(T, effective_depth, JSON_FIELD_SKIP_ZERO),
	{ NULL }
};
const struct json_field cpu_json_fields[] = {
	REAL_AS(T, "usr", cpu_usr), REAL_AS(T, "sys", cpu_sys), REAL_AS(T, "iowq", cpu_iowq),
	COUNT(T, ctx, REQUIRED), COUNT(T, majf, REQUIRED), COUNT(T, minf, REQUIRED),
	{ NULL }
};
#undef T

#define T struct result_error
const struct json_field error_json_fields[] = {
	NAME_AS(T, "direction", direction, REQUIRED, direction_names, DIR_COUNT),
	COUNT_AS(T, "errno", number, REQUIRED), TEXT(T, name), COUNT(T, count, REQUIRED),
	{ NULL }
};
const struct json_field first_json_fields[] = {
	TEXT_AS(T, "host", first_host), TEXT_AS(T, "target", first_target),
	COUNT_AS(T, "offset", first_offset, JSON_FIELD_SKIP_MAX),
	COUNT_AS(T, "at_ns", first_ns, JSON_FIELD_SKIP_ZERO),
	{ NULL }
};
#undef T

#define T struct result_direction
const struct json_field rates_json_fields[] = {
	COUNT(T, runtime_ns, REQUIRED), REAL(T, iops), REAL(T, bw_bytes),
	{ NULL }
};
const struct json_field common_json_fields[] = {
	COUNT_AS(T, "start_ns", common_start_ns, REQUIRED), COUNT_AS(T, "end_ns", common_end_ns, REQUIRED),
	REAL_AS(T, "iops", common_iops), REAL_AS(T, "bw_bytes", common_bw_bytes),
	{ NULL }
};
#undef T

#define T struct counts
const struct json_field counts_json_fields[] = {
	COUNT(T, ios, REQUIRED), COUNT(T, bytes, REQUIRED), COUNT(T, errors, REQUIRED),
	COUNT(T, short_ios, REQUIRED),
	{ NULL }
};
const struct json_field ramp_json_fields[] = {
	COUNT_AS(T, "ios", ramp_ios, REQUIRED), COUNT_AS(T, "bytes", ramp_bytes, REQUIRED),
	{ NULL }
};
const struct json_field drain_json_fields[] = {
	COUNT_AS(T, "ios", drain_ios, REQUIRED), COUNT_AS(T, "bytes", drain_bytes, REQUIRED),
	COUNT_AS(T, "lat_max_ns", drain_lat_max_ns, JSON_FIELD_SKIP_ZERO),
	{ NULL }
};
const struct json_field unfinished_json_fields[] = {
	COUNT_AS(T, "ios", unfinished_ios, REQUIRED),
	COUNT_AS(T, "age_ns", unfinished_age_ns, JSON_FIELD_SKIP_ZERO),
	{ NULL }
};
const struct json_field unissued_json_fields[] = {
	COUNT_AS(T, "ios", unissued_ios, REQUIRED),
	COUNT_AS(T, "age_ns", unissued_age_ns, JSON_FIELD_SKIP_ZERO),
	{ NULL }
};
#undef T

#define T struct sample_stats
const struct json_field samples_json_fields[] = {
	COUNT(T, n, REQUIRED), REAL(T, min), REAL(T, max), REAL(T, mean),
	REAL(T, stddev), COUNT(T, interval_ns, REQUIRED),
	{ NULL }
};
#undef T

#define T struct result_device
const struct json_field device_json_fields[] = {
	TEXT(T, host, REQUIRED), TEXT(T, target, REQUIRED), TEXT(T, path), TEXT(T, identity), TEXT(T, transport),
	TEXT(T, disk), FLAG_AS(T, "file", is_file), REAL(T, util),
	{ NULL }
};
const struct json_field counters_json_fields[] = {
	COUNT(T, read_ios, REQUIRED), COUNT(T, write_ios, REQUIRED), COUNT(T, read_bytes, REQUIRED),
	COUNT(T, write_bytes, REQUIRED), COUNT(T, read_merges), COUNT(T, write_merges),
	COUNT(T, read_ticks_ns), COUNT(T, write_ticks_ns), COUNT(T, in_queue_ns), COUNT(T, elapsed_ns),
	COUNT(T, discard_ios), COUNT(T, discard_bytes), COUNT(T, flush_ios),
	{ NULL }
};
const struct json_field foreign_json_fields[] = {
	COUNT(T, foreign_ios, REQUIRED), COUNT(T, foreign_bytes, REQUIRED),
	{ NULL }
};
const struct json_field cached_json_fields[] = {
	COUNT(T, cached_bytes, REQUIRED),
	{ NULL }
};
#undef T

#define T struct result_stuck
const struct json_field stuck_json_fields[] = {
	TEXT(T, host, REQUIRED), TEXT(T, target, REQUIRED), TEXT(T, path, 0),
	NAME_AS(T, "direction", direction, 0, direction_names, DIR_COUNT),
	COUNT(T, offset, REQUIRED), COUNT(T, bytes, REQUIRED), COUNT(T, age_ns, REQUIRED),
	{ NULL }
};
#undef T

#define T struct result_summary
const struct json_field summary_json_fields[] = {
	TEXT(T, phase, REQUIRED), TEXT(T, group, REQUIRED),
	{ NULL }
};
#undef T

#define T struct result_metric
const struct json_field metric_json_fields[] = {
	COUNT(T, n, REQUIRED), REAL(T, mean), REAL(T, stddev), REAL(T, min), REAL(T, max),
	{ NULL }
};
#undef T
/* clang-format on */
