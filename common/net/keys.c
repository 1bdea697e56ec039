/* SPDX-License-Identifier: Apache-2.0 */
#include "common/net/keys.h"

#include "common/base/str.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_SUFFIX ".key"

enum { KEY_FILE_MAX = 8192 };

static void closedirp(DIR **dir)
{
	if (*dir)
		closedir(*dir);
	*dir = NULL;
}

/* Every missing folder of the path is made for its owner only; folders that exist stay as they are. */
static struct error *make_folders(const char *dir)
{
	_cleanup_free_ char *path = xstrdup(dir);

	for (char *slash = path; slash;) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		if (*path && mkdir(path, 0700) != 0 && errno != EEXIST)
			return error_new(ERR_KEYS, "%s: cannot make the folder: %s", path,
					 strerror(errno));
		if (slash)
			*slash = '/';
	}
	return NULL;
}

struct error *keys_generate(const char *dir, const char *role)
{
	_cleanup_free_ char *public_path = xasprintf("%s/%s" KEY_SUFFIX, dir, role);
	_cleanup_free_ char *secret_path = xasprintf("%s_secret", public_path);
	_cleanup_(zcert_destroy) zcert_t *cert = NULL;
	struct error *err = make_folders(dir);

	if (err)
		return err;
	const char *there = access(secret_path, F_OK) == 0   ? secret_path
			    : access(public_path, F_OK) == 0 ? public_path
							     : NULL;
	if (there)
		return error_new(ERR_KEYS,
				 "%s: there is a key already, and it is never overwritten; "
				 "use another folder or remove it yourself",
				 there);
	cert = zcert_new();
	if (!cert)
		return error_new(ERR_KEYS, "this libzmq was built without CURVE");
	if (zcert_save_secret(cert, secret_path) != 0 || chmod(secret_path, 0600) != 0 ||
	    zcert_save_public(cert, public_path) != 0 || chmod(public_path, 0644) != 0)
		return error_new(ERR_KEYS, "%s: cannot write the key pair: %s", dir,
				 strerror(errno));
	return NULL;
}

struct error *keys_load_secret(const char *dir, const char *role, zcert_t **ret)
{
	_cleanup_free_ char *public_path = xasprintf("%s/%s" KEY_SUFFIX, dir, role);
	_cleanup_free_ char *secret_path = xasprintf("%s_secret", public_path);
	static const uint8_t none[KEY_BYTES];
	_cleanup_(zcert_destroy) zcert_t *cert = NULL;
	struct stat st;

	if (stat(secret_path, &st) != 0)
		return error_new(ERR_KEYS, "%s: %s; make a key pair with 'salvo keygen %s %s'",
				 secret_path, strerror(errno), role, dir);
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return error_new(ERR_KEYS,
				 "%s: others than its owner may read or change this secret key; "
				 "run 'chmod 600 %s'",
				 secret_path, secret_path);
	cert = zcert_load(public_path);
	if (!cert || memcmp(zcert_secret_key(cert), none, KEY_BYTES) == 0)
		return error_new(ERR_KEYS, "%s: holds no CURVE key pair, or cannot be read",
				 secret_path);
	*ret = take_ptr(cert);
	return NULL;
}

/* False when there is no such file or it holds no public key. Not zconfig_load, which leaks on a file that it
 * cannot parse. */
static bool load_public(const char *path, uint8_t ret[KEY_BYTES])
{
	_cleanup_(zconfig_destroy) zconfig_t *root = NULL;
	char content[KEY_FILE_MAX];
	FILE *f = fopen(path, "re");
	size_t len = f ? fread(content, 1, sizeof(content) - 1, f) : 0;
	const char *text;

	if (f)
		fclose(f);
	content[len] = '\0';
	root = len ? zconfig_str_load(content) : NULL;
	text = root ? zconfig_get(root, "/curve/public-key", NULL) : NULL;
	return text && strlen(text) == KEY_BYTES * 5 / 4 && zmq_z85_decode(ret, text);
}

static bool is_shortage(int errnum)
{
	return errnum == EMFILE || errnum == ENFILE || errnum == ENOMEM;
}

char *keys_find(const char *dir, const uint8_t public_key[KEY_BYTES], bool *ret_undecided)
{
	_cleanup_(closedirp) DIR *stream = opendir(dir);
	const struct dirent *entry;

	*ret_undecided = !stream && is_shortage(errno);
	while (stream && (entry = readdir(stream))) {
		size_t len = strlen(entry->d_name);
		uint8_t key[KEY_BYTES];

		if (len <= strlen(KEY_SUFFIX) ||
		    !streq(entry->d_name + len - strlen(KEY_SUFFIX), KEY_SUFFIX))
			continue;
		_cleanup_free_ char *path = xasprintf("%s/%s", dir, entry->d_name);

		errno = 0;
		if (!load_public(path, key)) {
			*ret_undecided |= is_shortage(errno);
			continue;
		}
		if (memcmp(key, public_key, KEY_BYTES) == 0) {
			*ret_undecided = false;
			return xstrndup(entry->d_name, len - strlen(KEY_SUFFIX));
		}
	}
	return NULL;
}

struct error *keys_load_worker_public(const char *dir, const char *name, uint8_t ret[KEY_BYTES])
{
	const char *const names[] = { name, "default" };

	for (size_t i = 0; i < array_size(names); i++) {
		_cleanup_free_ char *path = xasprintf("%s/workers/%s" KEY_SUFFIX, dir, names[i]);

		if (strchr(names[i], '/') || access(path, F_OK) != 0)
			continue;
		if (!load_public(path, ret))
			return error_new(ERR_KEYS, "%s: holds no public key, or cannot be read",
					 path);
		return NULL;
	}
	return error_new(ERR_KEYS,
			 "%s/workers: there is neither '%s" KEY_SUFFIX "' nor 'default" KEY_SUFFIX
			 "'; copy the worker's worker.key there",
			 dir, name);
}
