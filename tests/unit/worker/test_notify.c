/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/notify.h"

#include "common/base/str.h"

#include <criterion/criterion.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A manager that listens at the path, or at the abstract name when it begins with '@'. */
static int manager(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	memcpy(address.sun_path, path, strlen(path));
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	cr_assert_eq(bind(fd, (const struct sockaddr *)&address,
			  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path))),
		     0);
	return fd;
}

static void expect_ready(int fd)
{
	char text[32] = "";

	cr_assert_eq(recv(fd, text, sizeof(text) - 1, 0), (ssize_t)strlen("READY=1"));
	cr_assert_str_eq(text, "READY=1");
}

Test(notify, manager_is_told_by_path_and_by_abstract_name)
{
	_cleanup_free_ char *path = xasprintf("/tmp/salvo-test-notify-%d", getpid());
	_cleanup_free_ char *name = xasprintf("@salvo-test-notify-%d", getpid());
	_cleanup_close_ int by_path = manager(path), by_name = manager(name);

	cr_assert_eq(setenv("NOTIFY_SOCKET", path, 1), 0);
	notify_manager("READY=1");
	unlink(path);
	expect_ready(by_path);
	cr_assert_eq(setenv("NOTIFY_SOCKET", name, 1), 0);
	notify_manager("READY=1");
	expect_ready(by_name);
}

Test(notify, no_manager_and_nonsense_are_no_trouble)
{
	_cleanup_free_ char *longest = xcalloc(500, 1);

	memset(longest, '/', 499);
	unsetenv("NOTIFY_SOCKET");
	notify_manager("READY=1");
	static const char *const nonsense[] = { "", "relative", "/nowhere/socket" };

	for (size_t i = 0; i < array_size(nonsense); i++) {
		cr_assert_eq(setenv("NOTIFY_SOCKET", nonsense[i], 1), 0);
		notify_manager("READY=1");
	}
	cr_assert_eq(setenv("NOTIFY_SOCKET", longest, 1), 0);
	notify_manager("READY=1");
}
