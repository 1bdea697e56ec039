/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/config.h"

#include <sys/un.h>

#define TCP_PREFIX   "tcp://"
#define IPC_PREFIX   "ipc://"
#define DEFAULT_PORT "7600"

enum { MAX_PATTERNS = 1024 };

/* clang-format off */
static const struct field allow_fields[] = {
	F_STRLIST(struct worker_allow, read, nr_read, .max = MAX_PATTERNS,
		  .help = "Patterns of devices, files and identities that may be read: globs in which * does not cross /, or wwn:GLOB"),
	F_STRLIST(struct worker_allow, write, nr_write, .max = MAX_PATTERNS,
		  .help = "The same for what may be written"),
	{ NULL },
};
static const struct schema allow_schema = {
	.name = "allow", .help = "What a coordinator may use on this host; by default nothing",
	.size = sizeof(struct worker_allow), .fields = allow_fields,
	.set_offset = offsetof(struct worker_allow, set),
};

static const struct field limits_fields[] = {
	F_COUNT(struct worker_limits, threads, .def = "256", .min = 1, .max = 4096,
		.help = "Most I/O threads of one step"),
	F_SIZE(struct worker_limits, memory, .def = "8GiB", .min = 1 << 20, .max = 1ull << 50,
	       .help = "Most memory for buffers and statistics of one step"),
	{ NULL },
};
static const struct schema limits_schema = {
	.name = "limits", .help = "What one step may take of this host",
	.size = sizeof(struct worker_limits), .fields = limits_fields,
	.set_offset = offsetof(struct worker_limits, set),
};

static const struct field config_fields[] = {
	F_STRING(struct worker_config, listen, .def = "ipc:///run/salvo/worker.sock", .flags = FIELD_NONEMPTY,
		 .help = "Endpoint: tcp://ADDRESS:PORT (port 7600 where none is given) or ipc://PATH"),
	F_STRING(struct worker_config, state, .def = "/run/salvo", .flags = FIELD_NONEMPTY,
		 .help = "Folder of the socket and of what must outlive the worker; locked by one worker"),
	F_BOOL(struct worker_config, insecure, .def = "false",
	       .help = "Allow TCP without keys: whoever reaches the port may use what `allow` names"),
	F_STRING(struct worker_config, keys, .flags = FIELD_NONEMPTY | FIELD_OPTIONAL,
		 .help = "Folder with worker.key_secret and coordinators/*.key"),
	F_OBJECT(struct worker_config, allow, &allow_schema, .help = "What a coordinator may use on this host"),
	F_OBJECT(struct worker_config, limits, &limits_schema, .help = "What one step may take of this host"),
	{ NULL },
};
const struct schema worker_config_schema = {
	.name = "worker", .help = "Configuration of salvo-worker",
	.size = sizeof(struct worker_config), .fields = config_fields,
	.set_offset = offsetof(struct worker_config, set),
};
/* clang-format on */

void worker_config_init(struct worker_config *c)
{
	schema_init(&worker_config_schema, c);
}

void worker_config_fini(struct worker_config *c)
{
	schema_fini(&worker_config_schema, c);
}

struct error *worker_config_load(struct worker_config *c, const char *path)
{
	struct worker_config loaded;
	struct error *err = schema_load_file(&worker_config_schema, path, &loaded);

	if (err)
		return err;
	loaded.embedded = c->embedded;
	worker_config_fini(c);
	*c = loaded;
	return NULL;
}

bool worker_config_is_tcp(const struct worker_config *c)
{
	return str_starts(c->listen, TCP_PREFIX);
}

const char *worker_config_ipc_path(const struct worker_config *c)
{
	return str_starts(c->listen, IPC_PREFIX) ? c->listen + strlen(IPC_PREFIX) : NULL;
}

/* "tcp://HOST" has no port when nothing but digits does not follow its last colon outside brackets. */
static bool has_port(const char *address)
{
	const char *bracket = strrchr(address, ']');
	const char *colon = strrchr(bracket ? bracket : address, ':');

	return colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1);
}

static struct error *finish_listen(struct worker_config *c)
{
	const char *path = worker_config_ipc_path(c);

	if (path) {
		if (path[0] != '/')
			return error_new(ERR_CONFIG, "listen: '%s': ipc:// needs an absolute path",
					 c->listen);
		if (strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
			return error_new(ERR_CONFIG,
					 "listen: '%s': the path is too long for a socket "
					 "(%zu bytes at most)",
					 c->listen,
					 sizeof(((struct sockaddr_un *)0)->sun_path) - 1);
		return NULL;
	}
	if (!worker_config_is_tcp(c) || !c->listen[strlen(TCP_PREFIX)])
		return error_new(ERR_CONFIG,
				 "listen: '%s' is neither tcp://ADDRESS:PORT nor ipc://PATH",
				 c->listen);
	if (!has_port(c->listen + strlen(TCP_PREFIX))) {
		char *full = xasprintf("%s:" DEFAULT_PORT, c->listen);

		free(c->listen);
		c->listen = full;
	}
	return NULL;
}

struct error *worker_config_finish(struct worker_config *c)
{
	struct error *err = finish_listen(c);

	if (err)
		return err;
	if (c->embedded && worker_config_is_tcp(c))
		return error_new(ERR_USAGE, "an embedded worker listens on ipc:// only");
	if (worker_config_is_tcp(c) && !c->keys && !c->insecure)
		return error_new(
			ERR_CONFIG,
			"listen: '%s': TCP without keys would let anybody who reaches it use "
			"this host's disks; set keys (see 'salvo keygen worker DIR'), or spell "
			"out insecure: true",
			c->listen);
	return NULL;
}
