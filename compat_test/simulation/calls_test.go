package simulation

// The calls are rlock's: the same scripts with the same keys and arguments. Each call
// compares its reply with the model, and then the lock is checked.

func (l *lock) call(h *hold, name string, keys, args []string, effect func(reply any)) *call {
	var asleep []*hold
	var until int64
	return &call{script: name, keys: keys, args: args, from: h,
		prepare: func() {
			l.lapse()
			asleep = l.sleepers()
			until = l.ends()
		},
		effect: func(reply any) {
			effect(reply)
			if after := l.ends(); after > 0 && after < until {
				for _, o := range l.holds {
					o.shortened = true
				}
			}
			if l.kind == readWrite {
				for n := 1; n <= 2; n++ {
					l.w.observe(h.timeout(n))
				}
			}
			l.checkWoken(asleep)
			l.check()
		},
	}
}

func (w *world) newLatch(name string) string {
	return w.name("redisson_unlock_latch:{" + name + "}:")
}

func (l *lock) latch() string { return l.w.newLatch(l.name) }

// channel is the channel on which a release is published. The waiters of a spin lock do
// not subscribe to it.
func (l *lock) channel() string {
	if l.kind == readWrite {
		return "redisson_rwlock:{" + l.name + "}"
	}
	return "redisson_lock__channel:{" + l.name + "}"
}

func (h *hold) channel() string {
	if h.l.kind == fair {
		return h.l.channel() + ":" + h.owner
	}
	return h.l.channel()
}

// timeout is the key of the n-th read hold.
func (h *hold) timeout(n int) string {
	return "{" + h.l.name + "}:" + h.owner + ":rwlock_timeout:" + itoa(n)
}

// script returns the name of a script for the lock's kind.
func (h *hold) script(verb string) string {
	switch {
	case h.l.kind == readWrite && h.reads:
		return "read_" + verb
	case h.l.kind == readWrite:
		return "write_" + verb
	case h.l.kind == fair && verb != "renew":
		return "fair_" + verb
	case h.l.kind == fenced && verb == "acquire":
		return "fenced_acquire"
	}
	return "plain_" + verb
}

const publish = "publish"

// publishCommand is the command with which the scripts publish, "" for a spin lock.
func (l *lock) publishCommand() string {
	if l.kind == spin {
		return ""
	}
	return publish
}

// life is the time to live of latches, as an argument.
var life = itoa(int64(latchTime))

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// Values of the argument copy of an acquire script.
const (
	copyFirst = "first"
	copyWoken = "woken"
	copyAgain = "again"
)

func (h *hold) acquireCall(c *claim, lease int64, waits bool, kind string) *call {
	l := h.l
	effect := func(reply any) { l.acquired(h, c, lease, waits, kind, reply) }
	keys, args := []string{l.name, c.latch}, []string{itoa(lease), h.owner}
	switch {
	case l.kind == fair:
		keys = append(keys, l.keys[0], l.keys[1], l.channel())
		args = append(args, publish, itoa(l.patience), flag(waits), "30000")
	case l.kind == fenced:
		keys, args = append(keys, l.keys[0]), append(args, kind)
	case h.reads:
		keys = append(keys, "{"+l.name+"}")
	case l.kind != readWrite:
		args = append(args, kind)
	}
	return l.call(h, h.script("acquire"), keys, args, effect)
}

// acquired records an acquisition's reply.
func (l *lock) acquired(h *hold, c *claim, lease int64, waits bool, kind string, reply any) {
	v := l.verdict(reply)
	// Such a copy does not look for its latch or its own hold, if the lock is held.
	blind := kind == copyWoken && l.held() && l.kind != fair && l.kind != readWrite
	if _, over := l.w.latched(c.latch); over && !blind {
		if !v.over {
			l.w.fail(ruleReply, "%s answers %v to %s, whose claim is over", l.name, reply, h.field)
		}
		l.w.count("refused a claim that is over")
		return
	}
	switch {
	case v.over:
		l.w.fail(ruleReply, "%s tells %s that its claim is over", l.name, h.field)
	case !v.ok && h.live() && kind != copyAgain && l.kind != fair && l.kind != readWrite:
		if want := h.end() - l.w.server(); v.ttl != want {
			l.w.fail(ruleReply, "%s told %s to wait for %d ms, not %d", l.name, h.field, v.ttl, want)
		}
		return
	}
	l.asked(h, v.ok, waits)
	if !v.ok {
		l.refused(h, v.ttl)
		return
	}
	again := l.granted(h, lease)
	if l.kind != fenced {
		return
	}
	if !again {
		l.token++
	}
	if token := reply.([]any)[1]; token != l.token {
		l.w.fail(ruleReply, "%s gives token %v, not %d", l.name, token, l.token)
	}
}

// verdict is an acquisition's reply.
type verdict struct {
	ok, over bool
	ttl      int64 // if both are false
}

func (l *lock) verdict(reply any) verdict {
	if list, isList := reply.([]any); isList && len(list) == 2 {
		if token, _ := list[1].(int64); token > 0 {
			return verdict{ok: true}
		}
		reply = list[0]
	}
	switch ttl, isNumber := reply.(int64); {
	case !isNumber:
		if reply != "" {
			l.w.fail(ruleReply, "%s answers %v", l.name, reply)
		}
		return verdict{ok: true}
	default:
		return verdict{over: ttl == -4, ttl: ttl}
	}
}

// releaseCall is the release of a claim.
func (h *hold) releaseCall(c *claim) *call {
	l := h.l
	keys := []string{l.name, l.channel(), c.latch}
	args := []string{h.owner, l.publishCommand(), life}
	lives := int64(latchTime)
	switch {
	case l.kind == fair:
		keys = append(keys, l.keys[0], l.keys[1])
		args = append(args, itoa(l.patience))
	case h.reads:
		keys = append(keys, "{"+l.name+"}")
	case l.kind != spin && l.kind != readWrite:
		args, lives = args[:1], shortCallTime
	}
	return l.call(h, h.script("release"), keys, args, func(reply any) {
		l.released(h, c, lives, reply)
	})
}

// placeArg is the place of a change of a lease as an argument. Each latch has one client.
func placeArg(place int64) string {
	if place == 0 {
		return "0"
	}
	return "c1:" + itoa(place)
}

// renewCall starts the lease again. place is 0 for an ordinary renewal.
func (h *hold) renewCall(c *claim, lease, place int64, shorten bool) *call {
	l := h.l
	keys := []string{l.name, c.latch}
	if h.reads {
		keys = append(keys, "{"+l.name+"}")
	}
	args := []string{itoa(lease), h.owner, flag(shorten), placeArg(place), life}
	return l.call(h, h.script("renew"), keys, args, func(reply any) {
		l.renewed(h, c, lease, place, shorten, reply)
	})
}

func (h *hold) forceCall(latch string) *call {
	l := h.l
	name, keys := h.script("force"), []string{l.name, l.channel(), latch}
	args := []string{l.publishCommand(), life}
	switch l.kind {
	case fair:
		keys, args = append(keys, l.keys[0], l.keys[1]), append(args, itoa(l.patience))
	case readWrite:
		name = "rw_force"
		if h.reads {
			args = append(args, "read", "0")
		} else {
			args = append(args, "write", "1")
		}
	}
	return l.call(h, name, keys, args, func(reply any) { l.forced(latch, h.reads, reply) })
}
