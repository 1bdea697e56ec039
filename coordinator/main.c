/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/streams.h"
#include "coordinator/options.h"

#include <errno.h>

static int finish(struct error *errors)
{
	int status = error_exit_status(errors);

	for (const struct error *e = errors; e; e = error_next(e)) {
		_cleanup_free_ char *text = str_printable(error_message(e));

		fprintf(stderr, "error: %s\n", text);
	}
	error_destroy(&errors);
	return status;
}

/* Results that did not reach stdout are lost results. */
static struct error *close_stdout(void)
{
	bool failed = ferror(stdout);

	errno = 0;
	if (fclose(stdout) == 0 && !failed)
		return NULL;
	return error_new(ERR_OUTPUT, "stdout: cannot write: %s",
			 errno ? strerror(errno) : "output was lost");
}

int main(int argc, char **argv)
{
	_cleanup_(options_fini) struct options opts;
	struct error *errors;

	streams_occupy();
	errors = options_parse(argc, argv, &opts);
	if (errors)
		return finish(errors);
	if (opts.help)
		options_print_command_help(opts.command, stdout);
	else
		errors = opts.command->run(&opts, stdout);
	error_append(&errors, close_stdout());
	return finish(errors);
}
