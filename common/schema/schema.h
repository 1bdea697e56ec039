/* SPDX-License-Identifier: Apache-2.0 */
/* schema.h - one table describes one struct.
 *
 * From the same table come: YAML parsing, range and type checks, defaults, "did you mean",
 * `salvo help KEY`, the generated reference, `--set KEY=VALUE`, the resolved scenario of a result and the
 * msgpack form on the wire. Nothing else in the tree may know the name of a scenario key or of a
 * message's field.
 *
 * Pure: no I/O but schema_load_file's read. Any thread; objects belong to their owner.
 */
#ifndef SALVO_SCHEMA_SCHEMA_H
#define SALVO_SCHEMA_SCHEMA_H

#include "common/base/error.h"
#include "common/base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum field_type {
	FIELD_BOOL,     /* bool          true | false                                         */
	FIELD_COUNT,    /* uint64_t      plain number, k = 1000, M = 10^6                     */
	FIELD_INT,      /* int64_t       signed; wire only                                    */
	FIELD_SIZE,     /* uint64_t      bytes: 4k, 1MiB (powers of two), 1MB (10^6)          */
	FIELD_DURATION, /* uint64_t ns   250ms, 10s, 5m; 0 may stand alone                    */
	FIELD_PERCENT,  /* double        0..100, "70" or "70%"                                */
	FIELD_REAL,     /* double        any finite number; wire only                         */
	FIELD_CHOICE,   /* int           one of .choices; on the wire by name                 */
	FIELD_STRING,   /* char *        owned                                                */
	FIELD_STRLIST,  /* char ** + n   owned; YAML: a list of texts, or one text            */
	FIELD_BYTES,    /* uint8_t * + n owned; wire only                                     */
	FIELD_OBJECT,   /* struct        nested mapping, by value                             */
	FIELD_LIST,     /* T * + n       sequence of .sub objects                             */
	FIELD_MAP,      /* T * + n       mapping NAME -> .sub object, in file order. The first
			 *               field of .sub is the STRING that takes the NAME; on the
			 *               wire a list of objects with that field                    */
};

enum field_flags {
	FIELD_REQUIRED = 1 << 0, /* must be given                                           */
	FIELD_OPTIONAL = 1 << 1, /* may be absent on the wire; not packed while it is not given and
				  * has its default (0, NULL, empty where the table has none). An
				  * OPTIONAL object is written to YAML only when it was given   */
	FIELD_POW2 = 1 << 2,
	FIELD_NONEMPTY = 1 << 3, /* STRING: "" is an error                                  */
	FIELD_HIDDEN = 1 << 4,   /* not a key of the file: unknown there, but on the wire   */
};

struct choice {
	const char *name;
	int value;
	const char *help;
};

/* Which fields were given, by index in the table: the file's own word, not a default. */
enum { FIELDSET_WORDS = 4, SCHEMA_MAX_FIELDS = 64 * FIELDSET_WORDS };
struct fieldset {
	uint64_t bits[FIELDSET_WORDS];
};

struct schema;

struct field {
	const char *name;
	enum field_type type;
	unsigned flags;
	size_t offset;
	size_t count_offset;          /* lists and bytes: where the size_t is           */
	uint64_t min, max;            /* inclusive; lists: number of entries; max 0 = no bound;
				       * wire: strings and bytes longer than max (or 64 KiB, 16 MiB) are refused */
	const char *def;              /* as a user would write it                 */
	const char *help;             /* one sentence, no trailing stop           */
	const struct choice *choices; /* ends with { NULL }                       */
	const struct schema *sub;
};

struct schema {
	const char *name; /* "job": for docs and errors */
	const char *help;
	size_t size;                /* sizeof the struct               */
	const struct field *fields; /* ends with { NULL }              */
	/* Where the struct keeps its `struct fieldset`; 0 when it has none (the fieldset must not be the
	 * first member). Loading, --set and unpacking mark what was given. */
	size_t set_offset;
	/* Rules between fields, after the object and its defaults are complete; the path and position are
	 * added by the caller: "bs: 1000 is no multiple of 512" (of that field), or "verify needs a job
	 * that writes" (of the whole). Pure. May return a list: every mistake of the object. Runs on
	 * loading and on unpacking; there not for objects with a fieldset, whose rules speak of what a
	 * file gave. */
	struct error *(*check)(const void *obj);
	/* A field that takes the whole node when YAML gives a scalar or list in place of the mapping:
	 * `destroy: true`, `labels: {a: b}`. NULL when only a mapping will do. */
	const char *shorthand;
	/* On the wire an unknown key is ignored, except in a strict schema (job options), where it is
	 * an error that names the key. */
	bool strict_wire;
};

/* offsetof() that refuses to compile when the member has another C type. Types and names of members cannot
 * stand in parentheses. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define MEMBER(T, m, ctype) \
	(offsetof(T, m) + 0 * sizeof(char[_Generic(((T *)0)->m, ctype : 1, default : -1)]))

/* clang-format off */
#define F_BOOL(T, m, ...)     { .name = #m, .type = FIELD_BOOL,     .offset = MEMBER(T, m, bool),     __VA_ARGS__ }
#define F_COUNT(T, m, ...)    { .name = #m, .type = FIELD_COUNT,    .offset = MEMBER(T, m, uint64_t), __VA_ARGS__ }
#define F_INT(T, m, ...)      { .name = #m, .type = FIELD_INT,      .offset = MEMBER(T, m, int64_t),  __VA_ARGS__ }
#define F_SIZE(T, m, ...)     { .name = #m, .type = FIELD_SIZE,     .offset = MEMBER(T, m, uint64_t), __VA_ARGS__ }
/* Durations are kept in a member NAME_ns but the key is NAME, as users write it. */
#define F_DURATION(T, m, ...) { .name = #m, .type = FIELD_DURATION, .offset = MEMBER(T, m##_ns, uint64_t), __VA_ARGS__ }
#define F_PERCENT(T, m, ...)  { .name = #m, .type = FIELD_PERCENT,  .offset = MEMBER(T, m, double),   __VA_ARGS__ }
#define F_REAL(T, m, ...)     { .name = #m, .type = FIELD_REAL,     .offset = MEMBER(T, m, double),   __VA_ARGS__ }
#define F_CHOICE(T, m, ...)   { .name = #m, .type = FIELD_CHOICE,   .offset = MEMBER(T, m, int),      __VA_ARGS__ }
#define F_STRING(T, m, ...)   { .name = #m, .type = FIELD_STRING,   .offset = MEMBER(T, m, char *),   __VA_ARGS__ }
#define F_STRLIST(T, m, n, ...) { .name = #m, .type = FIELD_STRLIST, .offset = MEMBER(T, m, char **), \
	.count_offset = MEMBER(T, n, size_t), __VA_ARGS__ }
#define F_BYTES(T, m, n, ...) { .name = #m, .type = FIELD_BYTES,    .offset = MEMBER(T, m, uint8_t *), \
	.count_offset = MEMBER(T, n, size_t), __VA_ARGS__ }
#define F_OBJECT(T, m, s, ...) { .name = #m, .type = FIELD_OBJECT,  .offset = offsetof(T, m), .sub = (s), __VA_ARGS__ }
#define F_LIST(T, m, n, s, ...) { .name = #m, .type = FIELD_LIST,   .offset = offsetof(T, m), \
	.count_offset = MEMBER(T, n, size_t), .sub = (s), __VA_ARGS__ }
#define F_MAP(T, m, n, s, ...)  { .name = #m, .type = FIELD_MAP,    .offset = offsetof(T, m), \
	.count_offset = MEMBER(T, n, size_t), .sub = (s), __VA_ARGS__ }
/* clang-format on */
/* NOLINTEND(bugprone-macro-parentheses) */

/* --- objects ------------------------------------------------------------------------------------ */

/* Zeroes the object and sets every default, nested objects included. */
void schema_init(const struct schema *s, void *obj);
/* Frees what the object owns and zeroes it; accepts zeroed objects. */
void schema_fini(const struct schema *s, void *obj);
/* Deep copy; `to` is uninitialised memory of s->size bytes. */
void schema_copy(const struct schema *s, void *to, const void *from);
/* Copies every field that was given in `from` and not in `to` (deep), and marks it as given: how
 * `defaults` reach a job. Both schemas must have a fieldset. */
void schema_inherit(const struct schema *s, void *to, const void *from);
const struct field *schema_field(const struct schema *s, const char *name);
/* Was the field given? False for unknown names and schemas without a fieldset. */
bool schema_is_set(const struct schema *s, const void *obj, const char *name);
/* Parses one scalar as a user writes it into the field; marks it. The error has no position. */
struct error *schema_set(const struct schema *s, void *obj, const char *name,
			 const char *text) _must_check_;
/* The same by path: "jobs[0].iodepth", "targets.lun0.destroy", "fleet.lease". For STRLIST the text may be
 * "a" or "[a, b]"; an object takes the text by its shorthand, and so does a new NAME of a map of such
 * objects ("labels.rack"). Does not run check(): call schema_check afterwards. */
struct error *schema_set_path(const struct schema *s, void *obj, const char *path,
			      const char *text) _must_check_;
/* Runs check() of the object and everything in it; messages carry the path ("jobs[0].bs: ..."). */
struct error *schema_check(const struct schema *s, const void *obj) _must_check_;
/* A field's value as a user would write it ("4KiB", "10s", "randread"); owned. Scalars only. */
char *schema_format(const struct field *f, const void *obj) _returns_nonnull_;

/* --- YAML (schema_yaml.c) ------------------------------------------------------------------------ */

/* Loads a file (at most 1 MiB, depth 16) into `obj` (uninitialised memory). All mistakes come back at
 * once, in file order, each "FILE:LINE:COL: PATH: what". On error `obj` is finished and zeroed. */
struct error *schema_load_file(const struct schema *s, const char *path, void *obj) _must_check_;
/* The same from memory; `name` stands for FILE in messages. */
struct error *schema_load_text(const struct schema *s, const char *name, const char *text,
			       size_t len, void *obj) _must_check_;
/* For objects that are complete only after loading (defaults to inherit, --set to apply), with mistakes of
 * both kinds reported together:
 *
 *	err = schema_load_file_at(&s, path, obj, &positions);
 *	if (!positions)
 *		return err;                          (unreadable or no YAML; obj is zeroed)
 *	... change obj; error_append(&err, schema_positions_check(positions, &s, obj)) or own errors
 *	of the form "jobs[0].bs: what" ...
 *	schema_positions_render(positions, &err);   (NULL stays NULL)
 *	schema_positions_destroy(&positions);
 *	if (err) schema_fini(&s, obj);
 *
 * check() is not run by loading; obj is usable after mistakes, its wrong fields hold their defaults. */
struct schema_positions;
struct error *schema_load_file_at(const struct schema *s, const char *path, void *obj,
				  struct schema_positions **ret) _must_check_;
struct error *schema_load_text_at(const struct schema *s, const char *name, const char *text,
				  size_t len, void *obj,
				  struct schema_positions **ret) _must_check_;
/* Did loading find a mistake at this path or below it, or a key that was probably meant to be this one? Cross
 * checks of such a part would only add confusion. */
bool schema_positions_wrong(const struct schema_positions *p, const char *path);
/* schema_check, passing over objects in which loading found mistakes. */
struct error *schema_positions_check(const struct schema_positions *p, const struct schema *s,
				     const void *obj) _must_check_;
/* Gives every error its place by the path in front of its message (or of the nearest part that the file has),
 * sorts them in file order, puts "FILE:LINE:COL: " in front and cuts the list after 20 with "and N more". Those that
 * begin with "--" (of an option: "--set jobs[7].bs: ...") stay as they are, at the end. */
void schema_positions_render(const struct schema_positions *p, struct error **list);
void schema_positions_destroy(struct schema_positions **self_p);
/* Writes the object as YAML that loads to an equal object; defaults are written too, what has none and
 * was not given is left out. */
void schema_print_yaml(const struct schema *s, const void *obj, FILE *out);

/* --- msgpack (schema_wire.c) --------------------------------------------------------------------- */

/* Appends the object as a map keyed by field names. A NULL text is not packed: such a field is OPTIONAL. */
void schema_pack(const struct schema *s, const void *obj, struct buf *out);
/* The fields of two objects in one map, those of `head` first: a message in its envelope. Each reader
 * unpacks its own and passes over the other's. */
void schema_pack_two(const struct schema *head, const void *head_obj, const struct schema *s,
		     const void *obj, struct buf *out);
/* Reads such a map. The bytes are walked first (counts, depth <= 16, lengths against what is left), so a
 * hostile message can neither crash nor make it allocate more than a small multiple of len. Missing
 * fields that are neither OPTIONAL nor have a default are an error; so is anything out of the table's
 * range. `obj` is uninitialised memory, finished and zeroed on error. Errors have the code ERR_PROTOCOL. */
struct error *schema_unpack(const struct schema *s, const uint8_t *data, size_t len,
			    void *obj) _must_check_;

/* --- documentation (schema_doc.c) ---------------------------------------------------------------- */

/* Explains one key by its path without indices ("jobs.bs", "fleet", "targets.destroy"): type, default, bounds,
 * choices, help. Unknown: an error with the nearest name. */
struct error *schema_explain(const struct schema *s, const char *path, FILE *out) _must_check_;
/* The whole table and those below it as markdown. */
void schema_print_markdown(const struct schema *s, FILE *out);
/* The same as they stand on the wire, for several tables; one that others hold is printed once. */
void schema_print_wire_markdown(const struct schema *const *tables, size_t nr, FILE *out);

#endif
