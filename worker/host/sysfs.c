/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/sysfs.h"

#include "common/base/clock.h"
#include "common/base/str.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/sysmacros.h>
#include <unistd.h>

const struct host_root host_root_live = { .sys = "/sys", .proc = "/proc", .dev = "/dev" };

enum { FIRST_BYTES = 4096, FILE_MAX = 16 * 1024 * 1024 };

char *sysfs_bytes(const char *dir, const char *attr, size_t *ret_len)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, attr);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	_cleanup_free_ char *bytes = NULL;
	size_t len = 0, room = 0;

	if (fd < 0)
		return NULL;
	for (;;) {
		ssize_t n;

		if (len + 1 >= room) {
			room = room ? 2 * room : FIRST_BYTES;
			bytes = xrealloc(bytes, room, 1);
		}
		n = read(fd, bytes + len, room - len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || len > FILE_MAX)
			return NULL;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	bytes[len] = '\0';
	*ret_len = len;
	return take_ptr(bytes);
}

char *sysfs_text(const char *dir, const char *attr)
{
	size_t len;
	_cleanup_free_ char *bytes = sysfs_bytes(dir, attr, &len);
	char *start = bytes;

	if (!bytes)
		return NULL;
	bytes[strcspn(bytes, "\n")] = '\0';
	while (isspace((unsigned char)*start))
		start++;
	len = strlen(start);
	while (len > 0 && isspace((unsigned char)start[len - 1]))
		len--;
	return len ? xstrndup(start, len) : NULL;
}

uint64_t sysfs_number(const char *dir, const char *attr, uint64_t missing)
{
	_cleanup_free_ char *text = sysfs_text(dir, attr);
	char *end;
	unsigned long long value;

	if (!text || !isdigit((unsigned char)*text))
		return missing;
	errno = 0;
	value = strtoull(text, &end, 10);
	return errno || *end ? missing : value;
}

bool sysfs_exists(const char *dir, const char *attr)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, attr);

	return access(path, F_OK) == 0;
}

dev_t sysfs_devno(const char *dir)
{
	_cleanup_free_ char *text = sysfs_text(dir, "dev");
	char *end;
	unsigned long major_no, minor_no;

	if (!text)
		return 0;
	major_no = strtoul(text, &end, 10);
	if (*end != ':')
		return 0;
	minor_no = strtoul(end + 1, &end, 10);
	return *end ? 0 : makedev(major_no, minor_no);
}

void host_pause_ms(unsigned ms)
{
	struct timespec pause = clock_timespec(ms * NS_PER_MS);

	nanosleep(&pause, NULL);
}

static int skip_dots(const struct dirent *entry)
{
	return !streq(entry->d_name, ".") && !streq(entry->d_name, "..");
}

struct names names_of_folder(const char *dir)
{
	struct names list = { 0 };
	struct dirent **entries = NULL;
	int nr = scandir(dir, &entries, skip_dots, alphasort);

	if (nr <= 0)
		return list;
	list.names = xcalloc((size_t)nr, sizeof(*list.names));
	for (int i = 0; i < nr; i++) {
		list.names[list.nr++] = xstrdup(entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return list;
}

void names_add(struct names *list, const char *name)
{
	for (size_t i = 0; i < list->nr; i++)
		if (streq(list->names[i], name))
			return;
	list->names = xrealloc(list->names, list->nr + 1, sizeof(*list->names));
	list->names[list->nr++] = xstrdup(name);
}

void names_fini(struct names *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->names[i]);
	free(list->names);
	*list = (struct names) { 0 };
}
