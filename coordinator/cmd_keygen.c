/* SPDX-License-Identifier: Apache-2.0 */
#include "common/net/keys.h"
#include "coordinator/commands.h"
#include "coordinator/run/coordinator.h"

struct error *cmd_keygen(const struct options *opts, FILE *out)
{
	const char *role = opts->args[0], *dir = opts->args[1];
	bool worker = streq(role, "worker");
	struct error *err;

	if (!worker && !streq(role, "coordinator"))
		return error_new(ERR_USAGE,
				 "keygen: '%s' is neither 'worker' nor 'coordinator': salvo keygen "
				 "worker DIR",
				 role);
	coordinator_init();
	err = keys_generate(dir, role);
	if (err)
		return err;
	if (worker)
		fprintf(out,
			"%s/worker.key_secret  stays on the worker: its folder of keys (keys: in "
			"worker.yaml)\n"
			"%s/worker.key         goes to each coordinator, as workers/NAME.key in "
			"its "
			"folder\n"
			"                      of keys (or workers/default.key, for all hosts "
			"without "
			"their own)\n"
			"The coordinators that it obeys: their coordinator.key, as "
			"coordinators/NAME.key "
			"beside\nworker.key_secret.\n",
			dir, dir);
	else
		fprintf(out,
			"%s/coordinator.key_secret  stays here: the folder of keys, --keys or "
			"~/.config/salvo/keys\n"
			"%s/coordinator.key         goes to each worker that shall obey, as "
			"coordinators/NAME.key\n"
			"                           in its folder of keys\n"
			"The workers that it may reach: their worker.key, as workers/NAME.key "
			"beside\n"
			"coordinator.key_secret.\n",
			dir, dir);
	return NULL;
}
