/* SPDX-License-Identifier: Apache-2.0 */
/* worker_client.h - a salvo-worker in a folder of its own, and a coordinator that says exactly what a test wants.
 * SALVO_WORKER_BIN names the program. Every wait has an end; what does not come fails the test. */
#ifndef SALVO_TESTS_WORKER_CLIENT_H
#define SALVO_TESTS_WORKER_CLIENT_H

#include "common/base/clock.h"
#include "common/net/message.h"

#include <criterion/criterion.h>
#include <czmq.h>

struct worker_client {
	char *dir;
	pid_t worker;
	zsock_t *dealer;
	uint64_t session;
	/* Of the step at hand: the sum of its samples per member 0..3, and how many there were. */
	struct direction_sum sums[4][DIR_COUNT];
	uint64_t nr_samples;
	uint64_t oldest_ns; /* largest of them */
	int64_t last_interval;
};

/* Makes the folder and starts the worker in it; its log goes to DIR/log. `extra`: more options, ends with NULL;
 * may be NULL. */
void client_start(struct worker_client *c, const char *const *extra);
/* Starts a worker in the folder that is there. */
void client_start_worker(struct worker_client *c, const char *const *extra);
/* Makes the link to it anew. */
void client_connect(struct worker_client *c);
/* Ends the worker with SIGTERM (killed where that does not help) and removes the folder. */
void client_end(struct worker_client *c);
/* Runs the program once and waits: its exit status. */
int run_worker(const struct worker_client *c, const char *const *args);

void client_send(struct worker_client *c, struct message m);
/* The next message but PONG and SAMPLE, which are counted; it must be of that type. Finish it with message_fini. */
struct message client_expect(struct worker_client *c, enum message_type type);
struct message client_expect_either(struct worker_client *c, enum message_type type,
				    enum message_type other);
/* HELLO and WELCOME with a new session number. */
void client_hello(struct worker_client *c, uint64_t lease_ms, uint64_t grace_ms);
/* PREPARE of one member; see client_job. */
void client_prepare(struct worker_client *c, const struct work_target *target,
		    const struct job *job);
/* PREPARE, READY, START in 300 ms, ARMED; returns the instant. */
uint64_t client_run(struct worker_client *c, const struct work_target *target,
		    const struct job *job);
/* Waits for DONE and checks that the samples add up to it. */
struct message client_done(struct worker_client *c);
/* Sends PINGs that renew the lease until that instant. */
void client_ping_until(struct worker_client *c, uint64_t ns);
void client_bye(struct worker_client *c);

struct job client_job(int rw, uint64_t runtime_ms);
struct work_target client_simulated(void);
/* DIR/file of 4 MiB. */
struct work_target client_file(const struct worker_client *c);

/* The process id of the worker's only child; 0: it has none. */
pid_t client_child(const struct worker_client *c);
size_t client_open_files(const struct worker_client *c);
bool wait_until(bool (*condition)(const struct worker_client *c), const struct worker_client *c,
		uint64_t ms);

#endif
