/* SPDX-License-Identifier: Apache-2.0 */
/* schema_yaml.c - a YAML file into an object.
 *
 * Design notes. libyaml builds the document, every node of which keeps its place; nothing is read into the object
 * before the whole file is known to be YAML. Aliases make the document a graph: one node may stand in many places,
 * so the walk is bounded by the nodes it visits and by depth, not by the file's size.
 */
#include "common/schema/schema_impl.h"

#include <yaml.h>

enum {
	MAX_FILE_BYTES = 1024 * 1024,
	MAX_DEPTH = 100,     /* of lists and mappings in brackets */
	MAX_VISITS = 200000, /* nodes read, those behind aliases each time anew */
	MAX_NAMES = 4096,    /* entries of one MAP */
};

struct loader {
	yaml_document_t *doc;
	struct schema_positions *positions;
	struct error *mistakes;
	size_t visits, depth;
};

static void report(struct loader *l, const yaml_node_t *node, const struct place *at,
		   struct error *err)
{
	if (!schema_positions_add_wrong(l->positions, at)) {
		error_destroy(&err);
		return;
	}
	err = place_error(at, err);
	error_set_position(err, (unsigned)node->start_mark.line + 1,
			   (unsigned)node->start_mark.column + 1);
	error_append(&l->mistakes, err);
}

static yaml_node_t *node_of(struct loader *l, int index)
{
	return yaml_document_get_node(l->doc, index);
}

static const char *node_text(const yaml_node_t *node)
{
	return (const char *)node->data.scalar.value;
}

/* `key:` with nothing behind it, ~ and null. */
static bool is_nothing(const yaml_node_t *node)
{
	const char *text;

	if (node->type != YAML_SCALAR_NODE || node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	text = node_text(node);
	return !*text || streq(text, "~") || streq(text, "null");
}

static const char *node_kind(const yaml_node_t *node)
{
	switch (node->type) {
	case YAML_SEQUENCE_NODE:
		return "a list";
	case YAML_MAPPING_NODE:
		return "a mapping";
	case YAML_SCALAR_NODE:
		return is_nothing(node) ? "nothing" : "a single value";
	case YAML_NO_NODE:
		break;
	}
	return "nothing";
}

static struct error *unexpected(const char *want, const yaml_node_t *node)
{
	return error_new(ERR_CONFIG, "expected %s, got %s", want, node_kind(node));
}

/* The scalar's text, or NULL after a report. */
static const char *scalar_text(struct loader *l, const yaml_node_t *node, const char *want,
			       const struct place *at)
{
	const char *text;

	if (node->type != YAML_SCALAR_NODE || is_nothing(node)) {
		/* [fe80::1]:7600 is a mapping to YAML, [[a]] a list. */
		bool quotes = node->type != YAML_SCALAR_NODE && at && !at->name;

		report(l, node, at,
		       quotes ? error_new(ERR_CONFIG,
					  "expected a text, got %s; a text with brackets must be "
					  "quoted",
					  node_kind(node))
			      : unexpected(want, node));
		return NULL;
	}
	text = node_text(node);
	if (strlen(text) != node->data.scalar.length) {
		report(l, node, at, error_new(ERR_CONFIG, "holds a NUL character"));
		return NULL;
	}
	return text;
}

/* Bounds the walk; false after a report. */
static bool enter(struct loader *l, const yaml_node_t *node, const struct place *at)
{
	if (l->visits > MAX_VISITS)
		return false;
	if (++l->visits > MAX_VISITS) {
		report(l, node, at,
		       error_new(ERR_CONFIG, "more than %d values, aliases counted each time",
				 MAX_VISITS));
		return false;
	}
	if (l->depth >= SCHEMA_MAX_DEPTH) {
		report(l, node, at,
		       error_new(ERR_CONFIG, "nested deeper than %d levels", SCHEMA_MAX_DEPTH));
		return false;
	}
	if (node->tag && !str_starts((const char *)node->tag, "tag:yaml.org,2002:")) {
		report(l, node, at,
		       error_new(ERR_CONFIG, "tags such as '%s' have no meaning here",
				 (const char *)node->tag));
		return false;
	}
	schema_positions_add(l->positions, at, (unsigned)node->start_mark.line + 1,
			     (unsigned)node->start_mark.column + 1);
	return true;
}

static void load_object(struct loader *l, const struct schema *s, yaml_node_t *node, void *obj,
			const struct place *at, bool named);
static void load_field(struct loader *l, const struct field *f, yaml_node_t *node, void *obj,
		       const struct place *at);

static void load_strlist(struct loader *l, const struct field *f, yaml_node_t *node, void *obj,
			 const struct place *at)
{
	struct error *err;

	field_fini(f, obj);
	if (node->type != YAML_SEQUENCE_NODE) {
		const char *text = scalar_text(l, node, "a list of texts or one text", at);

		if (text)
			strlist_append(f, obj, text, strlen(text));
		return;
	}
	for (yaml_node_item_t *item = node->data.sequence.items.start;
	     item < node->data.sequence.items.top; item++) {
		struct place here = { .up = at, .index = *field_count(f, obj) };
		yaml_node_t *entry = node_of(l, *item);
		const char *text = NULL;

		if (enter(l, entry, &here))
			text = scalar_text(l, entry, "a text", &here);
		/* A wrong entry keeps its place, so that the numbers of the others stay true. */
		strlist_append(f, obj, text ? text : "", text ? strlen(text) : 0);
	}
	err = value_check_count(f, *field_count(f, obj));
	if (err)
		report(l, node, at, err);
}

static void load_list(struct loader *l, const struct field *f, yaml_node_t *node, void *obj,
		      const struct place *at)
{
	yaml_node_item_t *items = node->data.sequence.items.start;
	size_t n;
	struct error *err;

	if (node->type != YAML_SEQUENCE_NODE) {
		report(l, node, at, unexpected("a list", node));
		return;
	}
	n = (size_t)(node->data.sequence.items.top - items);
	err = value_check_count(f, n);
	if (err) {
		report(l, node, at, err);
		return;
	}
	for (size_t i = 0; i < n && l->visits <= MAX_VISITS; i++) {
		struct place here = { .up = at, .index = i };

		load_object(l, f->sub, node_of(l, items[i]), field_append(f, obj, NULL), &here,
			    false);
	}
}

static void load_map(struct loader *l, const struct field *f, yaml_node_t *node, void *obj,
		     const struct place *at)
{
	size_t n;
	struct error *err;

	if (node->type != YAML_MAPPING_NODE) {
		report(l, node, at, unexpected("a mapping of names", node));
		return;
	}
	n = (size_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
	err = value_check_count(f, n);
	if (!err && n > MAX_NAMES)
		err = error_new(ERR_CONFIG, "has %zu entries, the most is %d", n, MAX_NAMES);
	if (err) {
		report(l, node, at, err);
		return;
	}
	for (yaml_node_pair_t *p = node->data.mapping.pairs.start;
	     p < node->data.mapping.pairs.top && l->visits <= MAX_VISITS; p++) {
		yaml_node_t *key = node_of(l, p->key);
		const char *name = scalar_text(l, key, "a name", at);
		struct place here = { .up = at, .name = name };

		if (!name)
			continue;
		if (field_map_find(f, obj, name))
			report(l, key, at, error_new(ERR_CONFIG, "'%s' is given twice", name));
		else
			load_object(l, f->sub, node_of(l, p->value), field_append(f, obj, name),
				    &here, true);
	}
}

static void load_scalar(struct loader *l, const struct field *f, yaml_node_t *node, void *obj,
			const struct place *at)
{
	const char *text;
	struct error *err;

	if (is_nothing(node)) {
		report(l, node, at,
		       error_new(ERR_CONFIG, "has no value; write one, or leave the key out"));
		return;
	}
	text = scalar_text(l, node, value_kind(f->type), at);
	if (!text)
		return;
	err = value_parse(f, text, obj);
	if (err)
		report(l, node, at, err);
}

/* Reads a node into a field; `at` is the field's own place. */
static void load_field(struct loader *l, const struct field *f, yaml_node_t *node, void *obj,
		       const struct place *at)
{
	if (f->type == FIELD_OBJECT) {
		load_object(l, f->sub, node, field_at(f, obj), at, false);
		return;
	}
	if (!enter(l, node, at))
		return;
	l->depth++;
	if (f->type == FIELD_LIST)
		load_list(l, f, node, obj, at);
	else if (f->type == FIELD_MAP)
		load_map(l, f, node, obj, at);
	else if (f->type == FIELD_STRLIST)
		load_strlist(l, f, node, obj, at);
	else
		load_scalar(l, f, node, obj, at);
	l->depth--;
}

static void report_unknown(struct loader *l, const struct schema *s, const yaml_node_t *key,
			   const char *name, const struct place *at)
{
	const char *guess = schema_guess(s, name);
	const struct place meant = { .up = at, .name = guess };

	if (!guess) {
		report(l, key, at,
		       error_new(ERR_CONFIG, "unknown key '%s' in this %s", name, s->name));
		return;
	}
	report(l, key, at,
	       error_new(ERR_CONFIG, "unknown key '%s'; did you mean '%s'?", name, guess));
	/* The key that was meant is not simply absent: rules about it would only add confusion. */
	schema_positions_add_wrong(l->positions, &meant);
}

/* One KEY: VALUE of an object. `seen` has a flag per field of the table. */
static void load_pair(struct loader *l, const struct schema *s, const yaml_node_pair_t *pair,
		      void *obj, const struct place *at, bool *seen)
{
	yaml_node_t *key = node_of(l, pair->key);
	const char *name = scalar_text(l, key, "a key", at);
	struct place here = { .up = at, .name = name };
	const struct field *f = name ? schema_field(s, name) : NULL;

	if (!name)
		return;
	if (!f || (f->flags & FIELD_HIDDEN)) {
		report_unknown(l, s, key, name, at);
		return;
	}
	if (seen[f - s->fields]) {
		report(l, key, &here, error_new(ERR_CONFIG, "is given twice"));
		return;
	}
	seen[f - s->fields] = true;
	load_field(l, f, node_of(l, pair->value), obj, &here);
	field_mark(s, obj, f);
}

static void load_pairs(struct loader *l, const struct schema *s, yaml_node_t *node, void *obj,
		       const struct place *at, bool named)
{
	bool seen[SCHEMA_MAX_FIELDS] = { false };

	/* An entry of a MAP already has its name. */
	seen[0] = named;
	for (yaml_node_pair_t *p = node->data.mapping.pairs.start;
	     p < node->data.mapping.pairs.top && l->visits <= MAX_VISITS; p++)
		load_pair(l, s, p, obj, at, seen);
	for (const struct field *f = s->fields; f->name; f++)
		if ((f->flags & FIELD_REQUIRED) && !seen[f - s->fields])
			report(l, node, at,
			       error_new(ERR_CONFIG, "missing key '%s' (%s)", f->name, f->help));
}

/* Reads a mapping into an object, or anything else into its shorthand field. */
static void load_object(struct loader *l, const struct schema *s, yaml_node_t *node, void *obj,
			const struct place *at, bool named)
{
	const struct field *shorthand = schema_shorthand(s);

	if (!enter(l, node, at))
		return;
	l->depth++;
	if (node->type == YAML_MAPPING_NODE) {
		load_pairs(l, s, node, obj, at, named);
	} else if (shorthand && !is_nothing(node)) {
		load_field(l, shorthand, node, obj, at);
		field_mark(s, obj, shorthand);
	} else {
		_cleanup_free_ char *want = xasprintf("a mapping of %s keys", s->name);

		report(l, node, at, unexpected(want, node));
	}
	l->depth--;
}

/* --- the document ------------------------------------------------------------------------------------ */

static struct error *syntax_error(const yaml_parser_t *parser, const char *name, const char *text,
				  size_t len)
{
	size_t line = parser->problem_mark.line, column = 0;
	_cleanup_free_ char *hint = NULL;

	if (parser->error == YAML_READER_ERROR)
		return error_new(ERR_CONFIG, "%s: not a text in UTF-8: %s at byte %zu", name,
				 parser->problem, parser->problem_offset);
	if (parser->error == YAML_MEMORY_ERROR)
		return error_new(ERR_NOMEM, "out of memory");
	hint = schema_hint_brackets(text, len, line, &column);
	if (!hint && parser->context) {
		line = parser->context_mark.line;
		hint = schema_hint_brackets(text, len, line, &column);
	}
	if (hint)
		return error_new(ERR_CONFIG, "%s:%zu:%zu: %s", name, line + 1, column, hint);
	return error_new(ERR_CONFIG, "%s:%zu:%zu: not valid YAML: %s%s%s", name,
			 parser->problem_mark.line + 1, parser->problem_mark.column + 1,
			 parser->problem ? parser->problem : "unreadable",
			 parser->context ? " " : "", parser->context ? parser->context : "");
}

/* A second document in the file is a mistake, not a thing to pass over. */
static struct error *check_end(yaml_parser_t *parser, const char *name, const char *text,
			       size_t len)
{
	struct error *err = NULL;
	const yaml_node_t *root;
	yaml_document_t doc;

	if (!yaml_parser_load(parser, &doc))
		return syntax_error(parser, name, text, len);
	root = yaml_document_get_root_node(&doc);
	if (root)
		err = error_new(ERR_CONFIG,
				"%s:%zu:%zu: a second document begins here; "
				"a file holds one",
				name, root->start_mark.line + 1, root->start_mark.column + 1);
	yaml_document_delete(&doc);
	return err;
}

static struct error *load_document(const struct schema *s, const char *name, yaml_document_t *doc,
				   void *obj, struct schema_positions **ret)
{
	struct loader l = { .doc = doc };
	yaml_node_t *root = yaml_document_get_root_node(doc);

	if (!root || is_nothing(root))
		return error_new(ERR_CONFIG, "%s: the file is empty", name);
	l.positions = schema_positions_new(name);
	schema_init(s, obj);
	load_object(&l, s, root, obj, NULL, false);
	schema_positions_sort(l.positions);
	*ret = l.positions;
	return l.mistakes;
}

/* libyaml looks at all open brackets again at each token: nested by the thousands they take it minutes. Brackets in
 * quotes are counted, too; nobody writes so many. */
static bool is_too_deep(const char *text, size_t len)
{
	size_t depth = 0;

	for (size_t i = 0; i < len && depth <= MAX_DEPTH; i++) {
		if (text[i] == '[' || text[i] == '{')
			depth++;
		else if ((text[i] == ']' || text[i] == '}') && depth)
			depth--;
	}
	return depth > MAX_DEPTH;
}

struct error *schema_load_text_at(const struct schema *s, const char *name, const char *text,
				  size_t len, void *obj, struct schema_positions **ret)
{
	struct error *err = NULL;
	yaml_parser_t parser;
	yaml_document_t doc;

	*ret = NULL;
	memset(obj, 0, s->size);
	if (len > MAX_FILE_BYTES)
		return error_new(ERR_CONFIG, "%s: is larger than 1MiB", name);
	if (is_too_deep(text, len))
		return error_new(ERR_CONFIG, "%s: brackets are nested more than %d deep", name,
				 MAX_DEPTH);
	if (!yaml_parser_initialize(&parser))
		return error_new(ERR_NOMEM, "out of memory");
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	if (!yaml_parser_load(&parser, &doc)) {
		err = syntax_error(&parser, name, text, len);
	} else {
		if (yaml_document_get_root_node(&doc))
			err = check_end(&parser, name, text, len);
		if (!err)
			err = load_document(s, name, &doc, obj, ret);
		yaml_document_delete(&doc);
	}
	yaml_parser_delete(&parser);
	return err;
}

/* The whole file, or one byte more than the limit of it. */
static struct error *read_file(const char *path, struct buf *ret)
{
	FILE *in = fopen(path, "re");
	struct error *err = NULL;

	if (!in)
		return error_new(ERR_CONFIG, "%s: cannot open: %m", path);
	ret->data = xcalloc(MAX_FILE_BYTES + 1, 1);
	ret->cap = MAX_FILE_BYTES + 1;
	ret->len = fread(ret->data, 1, ret->cap, in);
	if (ferror(in))
		err = error_new(ERR_CONFIG, "%s: cannot read: %m", path);
	fclose(in);
	return err;
}

struct error *schema_load_file_at(const struct schema *s, const char *path, void *obj,
				  struct schema_positions **ret)
{
	_cleanup_(buf_fini) struct buf text = { 0 };
	struct error *err = read_file(path, &text);

	*ret = NULL;
	memset(obj, 0, s->size);
	if (err)
		return err;
	return schema_load_text_at(s, path, (const char *)text.data, text.len, obj, ret);
}

/* What remains to be done when nothing is inherited or set afterwards. */
static struct error *finish(const struct schema *s, void *obj, struct schema_positions *positions,
			    struct error *err)
{
	if (!positions)
		return err;
	error_append(&err, schema_positions_check(positions, s, obj));
	schema_positions_render(positions, &err);
	schema_positions_destroy(&positions);
	if (err)
		schema_fini(s, obj);
	return err;
}

struct error *schema_load_file(const struct schema *s, const char *path, void *obj)
{
	struct schema_positions *positions;
	struct error *err = schema_load_file_at(s, path, obj, &positions);

	return finish(s, obj, positions, err);
}

struct error *schema_load_text(const struct schema *s, const char *name, const char *text,
			       size_t len, void *obj)
{
	struct schema_positions *positions;
	struct error *err = schema_load_text_at(s, name, text, len, obj, &positions);

	return finish(s, obj, positions, err);
}
