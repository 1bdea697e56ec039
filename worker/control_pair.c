/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/control_pair.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

enum { READ_CHUNK = 64 * 1024 };

void control_pair_init(struct control_pair *p, int fd)
{
	*p = (struct control_pair) { .fd = fd };
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void control_pair_fini(struct control_pair *p)
{
	closep(&p->fd);
	buf_fini(&p->in);
	buf_fini(&p->out);
	*p = (struct control_pair) { .fd = -1 };
}

void control_pair_send(struct control_pair *p, const uint8_t *data, size_t len)
{
	uint32_t header = (uint32_t)len;

	assert(len <= MESSAGE_MAX_BYTES);
	buf_add(&p->out, &header, sizeof(header));
	buf_add(&p->out, data, len);
	control_pair_flush(p);
}

void control_pair_send_message(struct control_pair *p, const struct message *m)
{
	struct buf out = { 0 };

	message_encode(m, &out);
	control_pair_send(p, out.data, out.len);
	buf_fini(&out);
}

bool control_pair_flush(struct control_pair *p)
{
	while (p->fd >= 0 && p->out_pos < p->out.len) {
		ssize_t n = send(p->fd, p->out.data + p->out_pos, p->out.len - p->out_pos,
				 MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		p->out_pos += (size_t)n;
	}
	p->out.len = p->out_pos = 0;
	return p->fd >= 0;
}

bool control_pair_flush_wait(struct control_pair *p)
{
	while (control_pair_flush(p)) {
		struct pollfd item = { .fd = p->fd, .events = POLLOUT };

		if (!control_pair_has_output(p))
			return true;
		poll(&item, 1, -1);
	}
	return false;
}

bool control_pair_has_output(const struct control_pair *p)
{
	return p->out_pos < p->out.len;
}

static void drop_read_frames(struct control_pair *p)
{
	if (!p->in_pos)
		return;
	memmove(p->in.data, p->in.data + p->in_pos, p->in.len - p->in_pos);
	p->in.len -= p->in_pos;
	p->in_pos = 0;
}

bool control_pair_fill(struct control_pair *p)
{
	uint8_t chunk[READ_CHUNK];

	drop_read_frames(p);
	while (p->in.len <= MESSAGE_MAX_BYTES + sizeof(uint32_t)) {
		ssize_t n = p->fd < 0 ? 0 : recv(p->fd, chunk, sizeof(chunk), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 && errno == EAGAIN;
		buf_add(&p->in, chunk, (size_t)n);
	}
	return true; /* whole frames are in it: they are taken first */
}

int control_pair_next(struct control_pair *p, const uint8_t **ret, size_t *ret_len)
{
	size_t left = p->in.len - p->in_pos;
	uint32_t len;

	if (left < sizeof(len))
		return 0;
	memcpy(&len, p->in.data + p->in_pos, sizeof(len));
	if (len > MESSAGE_MAX_BYTES)
		return -EPROTO;
	if (left - sizeof(len) < len)
		return 0;
	*ret = p->in.data + p->in_pos + sizeof(len);
	*ret_len = len;
	p->in_pos += sizeof(len) + len;
	return 1;
}
