/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/worker/io/engine_rig.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static struct engine_rig rig;

static void setup(void)
{
	engine_rig_open(&rig, &engine_pvsync2, 1, 0);
	engine_rig_start(&rig);
}

static void teardown(void)
{
	engine_rig_fini(&rig);
}

TestSuite(engine_pvsync2, .init = setup, .fini = teardown, .timeout = 30);

Test(engine_pvsync2, moves_the_right_bytes)
{
	engine_moves_the_right_bytes(&rig);
}

Test(engine_pvsync2, gives_short_reads)
{
	engine_gives_short_reads(&rig);
}

Test(engine_pvsync2, moves_as_many_bytes_as_it_is_told)
{
	engine_moves_as_many_bytes_as_it_is_told(&rig);
}

Test(engine_pvsync2, syncs)
{
	engine_syncs(&rig);
}

Test(engine_pvsync2, errors_are_results)
{
	close(rig.env.fd);
	cr_assert_eq(engine_rig_run(&rig, false, 0), -EBADF);
	cr_assert_eq(engine_rig_run(&rig, true, 0), -EBADF);
	rig.env.fd = dup(1);
}
