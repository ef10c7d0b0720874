package simulation

import "strings"

// The calls are rlock's: the same scripts with the same keys and arguments. Each call
// compares its reply with the model, and then the lock is checked.

func (l *lock) call(h *hold, name string, keys, args []string, effect func(reply any)) *call {
	var asleep []*hold
	var until int64
	asof := l.w.now
	return &call{script: name, keys: keys, args: args, from: h,
		prepare: func() {
			l.asof = asof
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
				for n := 1; n <= h.count+2; n++ {
					l.w.observe("{" + l.name + "}:" + h.owner + ":rwlock_timeout:" + itoa(n))
				}
			}
			l.checkWoken(asleep)
			l.check()
			l.asof = 0
		},
	}
}

func (l *lock) latch() string { return l.w.name("redisson_unlock_latch:{" + l.name + "}:") }

func (l *lock) channel() string {
	switch l.kind {
	case spin:
		return ""
	case readWrite:
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

// script returns the name of a script for the lock's kind.
func (h *hold) script(verb string) string {
	switch {
	case h.l.kind == readWrite && h.reads:
		return "read" + verb
	case h.l.kind == readWrite:
		return "write" + verb
	case h.l.kind == fair:
		return "fair" + verb
	case h.l.kind == spin && verb != "Acquire":
		return "spin" + verb
	case h.l.kind == fenced && verb == "Acquire":
		return "fenced" + verb
	}
	return "plain" + verb
}

const publish = "publish"

// fairCall returns a call with the keys and arguments of all fair lock scripts.
func (h *hold) fairCall(verb, latch string, effect func(any), args ...string) *call {
	l := h.l
	keys := []string{l.name, l.keys[0], l.keys[1], l.channel()}
	if latch != "" {
		keys = append(keys, latch)
	}
	return l.call(h, "fair"+verb, keys, append([]string{h.owner, itoa(l.w.now), publish}, args...),
		effect)
}

func (h *hold) acquireCall(lease int64, held int, waits bool) *call {
	l := h.l
	effect := func(reply any) { l.acquired(h, lease, held, waits, reply) }
	switch {
	case l.kind == fair:
		flag := "0"
		if waits {
			flag = "1"
		}
		return h.fairCall("Acquire", "", effect, itoa(lease), itoa(held), itoa(l.patience), flag, "30000")
	case l.kind == fenced:
		return l.call(h, "fencedAcquire", []string{l.name, l.keys[0]},
			[]string{itoa(lease), h.field, itoa(held)}, effect)
	case l.kind == readWrite && h.reads:
		prefix := "{" + l.name + "}:" + h.owner + ":rwlock_timeout"
		return l.call(h, "readAcquire", []string{l.name, prefix},
			[]string{itoa(lease), h.field, h.owner + ":write", itoa(held)}, effect)
	}
	return l.call(h, h.script("Acquire"), []string{l.name},
		[]string{itoa(lease), h.field, itoa(held)}, effect)
}

// acquired records an acquisition's reply.
func (l *lock) acquired(h *hold, lease int64, held int, waits bool, reply any) {
	ok, gone, ttl := l.verdict(reply)
	if gone {
		if held == 0 || h.live() {
			l.w.fail(ruleReply, "%s is lost, %s is told, which holds it", l.name, h.field)
		}
		h.count = 0
		return
	}
	l.asked(h, ok, waits)
	if !ok {
		l.refused(h, ttl)
		return
	}
	again := l.granted(h, held, lease)
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

// verdict reads an acquisition's reply.
func (l *lock) verdict(reply any) (ok, gone bool, ttl int64) {
	if list, isList := reply.([]any); isList && len(list) == 2 {
		if token, _ := list[1].(int64); token > 0 {
			return true, false, 0
		}
		reply = list[0]
	}
	ttl, isNumber := reply.(int64)
	return !isNumber, ttl == -3, ttl
}

func (h *hold) undoCall(held int, latch string) *call {
	l := h.l
	effect := func(reply any) { l.undone(h, held, latch, reply) }
	switch {
	case l.kind == fair:
		return h.fairCall("Undo", latch, effect, itoa(held), "20000")
	case l.kind == spin:
		return l.call(h, "spinUndo", []string{l.name, latch}, []string{h.field, itoa(held), "20000"},
			effect)
	case l.kind != readWrite:
		return l.call(h, "plainUndo", []string{l.name, l.channel(), latch},
			[]string{h.field, itoa(held), publish, "20000"}, effect)
	case h.reads:
		return l.call(h, "readUndo", []string{l.name, l.channel(), l.tag(), latch},
			[]string{h.field, publish, itoa(held), "20000"}, effect)
	}
	return l.call(h, "writeUndo", []string{l.name, l.channel(), latch},
		[]string{h.field, publish, itoa(held), "20000"}, effect)
}

// tag returns the prefix of the keys of read holds.
func (l *lock) tag() string { return strings.TrimSuffix("{"+l.name+"}:", ":") }

func (h *hold) releaseCall(latch string, lease int64) *call {
	l := h.l
	effect := func(reply any) { l.released(h, latch, lease, reply) }
	switch {
	case l.kind == fair:
		return h.fairCall("Release", latch, effect, "20000", itoa(lease))
	case l.kind == spin:
		return l.call(h, "spinRelease", []string{l.name, latch},
			[]string{h.field, itoa(lease), "20000"}, effect)
	case l.kind != readWrite:
		return l.call(h, "plainRelease", []string{l.name, l.channel(), latch},
			[]string{h.field, itoa(lease), publish, "20000"}, effect)
	case h.reads:
		return l.call(h, "readRelease", []string{l.name, l.channel(), l.tag(), latch},
			[]string{h.field, publish, "20000"}, effect)
	}
	return l.call(h, "writeRelease", []string{l.name, l.channel(), latch},
		[]string{h.field, publish, "20000", itoa(lease)}, effect)
}

func (h *hold) renewCall(lease int64) *call {
	l := h.l
	keys := []string{l.name}
	if h.reads {
		keys = append(keys, "{"+l.name+"}:"+h.owner+":rwlock_timeout")
	}
	name := "plainRenew"
	if l.kind == readWrite {
		name = h.script("Renew")
	}
	return l.call(h, name, keys, []string{itoa(lease), h.field}, func(reply any) {
		l.renewed(h, lease, reply)
	})
}

func (h *hold) forceCall(latch string) *call {
	l := h.l
	effect := func(reply any) { l.forced(latch, h.reads, reply) }
	switch l.kind {
	case fair:
		return h.fairCall("Force", latch, effect, "20000")
	case spin:
		return l.call(h, "spinForce", []string{l.name, latch}, []string{"20000"}, effect)
	case readWrite:
		mode, message := "write", "1"
		if h.reads {
			mode, message = "read", "0"
		}
		return l.call(h, "rwForce", []string{l.name, l.channel(), latch},
			[]string{mode, message, publish, "20000"}, effect)
	}
	return l.call(h, "plainForce", []string{l.name, l.channel(), latch}, []string{publish, "20000"},
		effect)
}

func (h *hold) leaveCall() *call {
	l := h.l
	return h.fairCall("Leave", "", func(any) { l.left(h) }, itoa(l.patience))
}
