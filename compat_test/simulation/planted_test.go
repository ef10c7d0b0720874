package simulation

import (
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/pubsub"
)

// change replaces a part of a script.
func change(name, old, with string) func(*world) {
	return func(w *world) {
		body := w.scripts[name].body
		if !strings.Contains(body, old) {
			panic(outdated(name + " has no " + old))
		}
		w.scripts[name] = newScript(strings.Replace(body, old, with, 1))
	}
}

// outdated fails: rlock's script has changed, so the planted fault must change too.
type outdated string

// among plants a fault that happens at the beginning of a step.
func among(every int, spoil func(*world)) func(*world) {
	return func(w *world) {
		n := 0
		w.before = func() {
			if n++; n%every == 0 {
				spoil(w)
			}
		}
	}
}

// TestPlantedFaultsAreFound shows that each invariant can fail, and that the shrunk
// steps fail too.
func TestPlantedFaultsAreFound(t *testing.T) {
	for _, planted := range plantedFaults() {
		t.Run(planted.name, func(t *testing.T) {
			defer func() {
				if why, ok := recover().(outdated); ok {
					t.Fatal(why)
				}
			}()
			p := plan{seed: 5, spoil: planted.spoil}
			r := p.generate(20_000)
			if r.broken == nil {
				t.Fatal("not found")
			}
			if !strings.Contains(planted.rules, r.broken.rule) {
				t.Fatalf("it breaks another rule: %v", r.broken)
			}
			short := p.shrink(r, 200*time.Millisecond)
			again := p.replay(short.steps)
			if again.broken == nil || again.broken.rule != r.broken.rule {
				t.Fatalf("the %d steps that are left break %v", len(short.steps), again.broken)
			}
			t.Logf("%d steps, shrunk to %d: %v", len(r.steps), len(short.steps), short.broken)
		})
	}
}

type plantedFault struct {
	name, rules string // rules has the rule, or the possible rules, that break first
	spoil       func(*world)
}

func plantedFaults() []plantedFault {
	return []plantedFault{
		{"a lock that is granted to everybody", ruleOwner,
			change("plainAcquire", "if ttl == -2 then", "if true then")},
		{"a lock without a lease", ruleStored,
			change("plainAcquire", "call('pexpire', lock, ARGV[1])", "")},
		{"a lock that is counted up again when the reply was lost", ruleStored,
			change("plainAcquire", "if tonumber(count) ~= held + 1 then", "do")},
		{"a wait that is told too long", ruleReply,
			change("plainAcquire", "or ttl end", "or ttl + 5 end")},
		{"an unlock that publishes nothing", ruleWake,
			change("plainRelease", "call(ARGV[3], KEYS[2], '0')", "")},
		{"an unlock without a latch", ruleReply,
			change("plainRelease", "call('get', latch)", "false")},
		{"an unlock that forgets the count", ruleStored + ruleReply,
			change("plainRelease", "count == '1' and", "count and")},
		{"a renewal that shortens", ruleStored,
			change("plainRenew", "redis.call('pexpire', KEYS[1], ARGV[1])",
				"redis.call('pexpire', KEYS[1], 1)")},
		{"a renewal that says so and does nothing", ruleStored,
			change("plainRenew", "ARGV[3] or redis.call('pttl', KEYS[1]) < tonumber(ARGV[1])", "false")},
		{"a token that is given twice", ruleReply,
			change("fencedAcquire", "call('incr', KEYS[2])",
				"call('get', KEYS[2]) or call('incr', KEYS[2])")},
		{"a spin lock whose release deletes what others hold", ruleReply + ruleStored,
			change("spinRelease", "if not count then return nil end",
				"if not count then redis.call('del', KEYS[1]) return nil end")},
		{"a queue that is served from its end", ruleQueue,
			change("fairAcquire", "redis.call('rpush', queue, me)", "redis.call('lpush', queue, me)")},
		{"a lock that is granted past its queue", ruleQueue,
			change("fairAcquire", "if free and (not first or first == me) then", "if free then")},
		{"a queue whose deadlines do not move up", ruleQueue,
			change("fairAcquire", "redis.call('zincrby', timeouts, -patience, other)", "")},
		{"a queue whose first is not woken", ruleWake,
			change("fairRelease",
				"redis.call(publish, channel .. ':' .. first, '0') end\nend\n\nlocal answer",
				"end\nend\n\nlocal answer")},
		{"a reader beside a writer", ruleOwner + ruleStored,
			change("readAcquire", "elseif mode ~= 'read' and", "elseif false and")},
		{"a writer beside readers", ruleOwner + ruleStored,
			change("writeAcquire",
				"if redis.call('hexists', KEYS[1], 'mode') == 1 then return redis.call('pttl', KEYS[1]) end",
				"")},
		{"a reader that ends the others' leases", ruleTrust + ruleStored + ruleReply,
			change("readRelease", "ms = math.max(ms, redis.call('pttl', timeout(fields[i], n)))", "ms = 1")},
		{"a writer that publishes nothing", ruleWake,
			change("writeRelease", "redis.call(publish, KEYS[2], '1')", "")},

		{"a semaphore that grants more than it has", ruleTotal,
			change("semaphoreAcquire", "free < tonumber(ARGV[1])", "free + 1 < tonumber(ARGV[1])")},
		{"a semaphore's release that publishes nothing", ruleWake,
			change("semaphoreRelease", "redis.call(ARGV[2], KEYS[2], free)", "")},
		{"a permit that comes back twice", ruleTotal,
			change("permitRelease", "redis.call('zrem', KEYS[2], ARGV[3])", "")},
		{"a permit whose lease does not end", ruleTotal,
			change("permitAcquire", "0, now)", "0, now - 3)")},
		{"a permit that counts too long", ruleStored,
			change("permitAcquire", "deadline = now + ARGV[3]", "deadline = now + ARGV[3] + 1")},
		{"a latch that opens silently", ruleWake,
			change("latchCountDown", "redis.call(ARGV[1], KEYS[2], '0')", "")},
		{"a latch that counts below zero", ruleTotal + ruleReply,
			change("latchCountDown", "if left <= 0 then redis.call('del', KEYS[1]) end", "")},
		{"a rate that lets too many through", ruleTotal,
			change("rateAcquire", "0, now - interval)) do", "0, now - interval + 7)) do")},
		{"a rate whose permits come back late", ruleTotal,
			change("rateAcquire", "0, now - interval)) do", "0, now - interval - 7)) do")},

		{"a key that outlives its deadline", ruleExpiry + ruleOwner + ruleReply + ruleStored,
			among(1, func(w *world) { w.clock.millis = w.server() - 30 })},
		{"a key that ends early", ruleExpiry + ruleTrust + ruleStored + ruleReply + ruleOwner,
			among(1, func(w *world) { w.clock.millis = w.server() + 30 })},
		{"an expiry that is skipped", ruleExpiry + ruleIndexes,
			among(1, func(w *world) { w.e.Env().Space.KeepExpired = true })},
		{"an event that is not sent", ruleExpiry,
			func(w *world) { w.e.Env().Config.NotifyEvents = 0 }},
		{"a key that is lost", ruleStored + ruleTrust + ruleReply + ruleQueue,
			among(500, func(w *world) {
				db := w.e.Env().Space.DB(0)
				if e := db.Random(w.e.Env().Rand); e != nil {
					db.Remove(e)
				}
			})},
		{"a deadline that is lost", ruleStored + ruleIndexes + ruleReply + ruleExpiry,
			among(500, func(w *world) {
				if e := w.e.Env().Space.DB(0).Random(w.e.Env().Rand); e != nil {
					*e.DeadlineItem() = expiry.Item{}
				}
			})},
		{"a subscriber that the broker knows alone", ruleIndexes + ruleWake + rulePanic,
			among(700, func(w *world) {
				for _, a := range w.actors {
					if l, ok := a.(*locker); ok && l.sub.s.Subs.Count(pubsub.Channel) > 0 {
						l.sub.s.Subs = pubsub.Subscriptions{}
						return
					}
				}
			})},
		{"a command that panics", rulePanic + ruleReply,
			among(900, func(w *world) { w.e.Env().Table.Lookup([]byte("hget")).Run = nil })},
	}
}
