package simulation

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/pubsub"
	"github.com/lockredis/lockredis/store"
)

// change replaces a part of a script.
func change(name, old, with string) func(*world) {
	return func(w *world) {
		body := w.scripts[name].body
		if !strings.Contains(body, old) {
			panic(outdated(name + " has no " + old))
		}
		w.scripts[name] = newScript(strings.ReplaceAll(body, old, with))
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

// withChance is among, with random numbers of its own for each world.
func withChance(every int, spoil func(*world, *rand.Rand)) func(*world) {
	return func(w *world) {
		chance := rand.New(rand.NewPCG(1, 2))
		among(every, func(w *world) { spoil(w, chance) })(w)
	}
}

// anyKey returns a key of the server, or nil. It draws from the sorted keys: the store's
// own draw follows a hash that differs in each process, and so would the rule that breaks.
func (w *world) anyKey(chance *rand.Rand) *store.Entry {
	var entries []*store.Entry
	w.e.Env().Space.DB(0).Each(func(e *store.Entry) bool {
		entries = append(entries, e)
		return true
	})
	if len(entries) == 0 {
		return nil
	}
	slices.SortFunc(entries, func(a, b *store.Entry) int { return strings.Compare(a.Key(), b.Key()) })
	return entries[chance.IntN(len(entries))]
}

// TestPlantedFaultsAreFound shows that each invariant can fail, and that the shrunk
// steps fail too.
func TestPlantedFaultsAreFound(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	for _, planted := range plantedFaults() {
		t.Run(planted.name, func(t *testing.T) {
			defer func() {
				if why, ok := recover().(outdated); ok {
					t.Fatal(why)
				}
			}()
			p := plan{seed: 5, spoil: planted.spoil}
			r := p.generate(100_000)
			for ; r.broken == nil && p.seed < 31; r = p.generate(100_000) {
				p.seed++
			}
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
		{"a lock that is granted to every owner", ruleOwner,
			change("plain_acquire", "if found == 0 then", "if true then")},
		{"a lock without a lease", ruleStored,
			change("plain_acquire", "call('pexpire', lock, lease)", "")},
		{"a wait that is told too long", ruleReply,
			change("plain_acquire", "and -4 or ttl end", "and -4 or ttl + 5 end")},
		{"an acquisition that ignores its latch", ruleReply + ruleOwned,
			change("plain_acquire", "found = latch and call('exists', lock, latch) or call('exists', lock)",
				"found = call('exists', lock)")},
		{"a fenced acquisition that ignores its latch", ruleReply + ruleOwned,
			change("fenced_acquire", "call('exists', lock, latch)", "call('exists', lock)")},
		{"a late copy that queues again", ruleReply + ruleQueue,
			change("fair_acquire", "call('exists', lock, latch)", "call('exists', lock)")},
		{"a reader that ignores its latch", ruleReply + ruleOwned,
			change("read_acquire", "call('exists', lock, latch)", "call('exists', lock)")},
		{"a writer that ignores its latch", ruleReply + ruleOwned,
			change("write_acquire", "latch and call('exists', lock, latch) or", "")},
		{"a further copy that takes its own hold for another owner's", ruleReply,
			change("plain_acquire", "if copy == 'first' and", "if")},
		{"an unlock that publishes nothing", ruleWake,
			change("plain_release", "if publish ~= '' then call(publish, channel, '0') end", "")},
		{"a release that writes no latch", ruleReply + ruleOwned,
			change("plain_release", "redis.pcall('set', latch, reply, 'px', life, 'nx')",
				"{ok = redis.call('exists', latch) == 0}")},
		{"a release that replies anew to a copy", ruleReply,
			change("plain_release", "if earlier then return earlier end\n  redis.call('del', latch)",
				"redis.call('del', latch)")},
		{"a release that a change of the lease stops", ruleReply + ruleStored,
			change("plain_release", "tonumber(redis.call('get', latch) or '')",
				"tonumber(redis.call('get', latch) or '') or 1")},
		{"a seal that is not kept", ruleReply + ruleOwned + ruleTotal,
			change("seal", "call('set', latch, 'sealed', 'px', life)", "")},
		{"a release that leaves the hold", ruleStored,
			change("plain_release", "call('del', lock)", "")},
		{"an undo that leaves the queue entry", ruleQueue + ruleWake,
			change("fair_release", "call('lrem', queue, 0, owner)", "")},
		{"a free lock whose first waiter keeps its late deadline", ruleQueue + ruleReply,
			func(w *world) {
				for _, name := range []string{"fair_acquire", "fair_release"} {
					change(name, "if deadline and deadline > last then", "if false then")(w)
				}
			}},
		{"an undo after which no waiter is woken", ruleWake,
			change("fair_release", "if call('exists', lock) == 0 then wake() end", "")},
		{"a renewal that shortens", ruleStored,
			change("plain_renew", "or call('pttl', lock) < tonumber(lease) then", "or true then")},
		{"a renewal that says so and does nothing", ruleStored,
			change("plain_renew", "shorten == '1' or call('pttl', lock) < tonumber(lease)", "false")},
		{"a change of the lease that is not ordered", ruleStored,
			change("plain_renew", "if last >= tonumber(number) then", "if false then")},
		{"a change of the lease of a claim that is over", ruleReply,
			func(w *world) {
				for _, kind := range []string{"plain", "read", "write"} {
					change(kind+"_renew", "if not places then return 0 end", "if not places then places = '' return end")(w)
				}
			}},
		{"a renewal of readers that shortens", ruleTrust + ruleStored,
			change("read_renew", "(shorten == '1' or call('pttl', key) < lease) and call('pexpire', key, lease)",
				"call('pexpire', key, math.ceil(lease / 2))")},
		{"a token that is given twice", ruleReply,
			change("fenced_acquire", "call('incr', counter)",
				"tonumber(call('get', counter) or call('incr', counter))")},
		{"a release that deletes what others hold", ruleReply + ruleStored,
			change("plain_release", "if reply == 1 then", "if true then")},
		{"a queue that is served from its end", ruleQueue,
			change("fair_acquire", "call('rpush', queue, owner)", "call('lpush', queue, owner)")},
		{"a lock that is granted past its queue", ruleQueue,
			change("fair_acquire", "if found == 0 and (not first or first == owner) then",
				"if found == 0 then")},
		{"a queue whose deadlines do not move up", ruleQueue,
			change("fair_acquire", "call('zincrby', timeouts, -patience, other)", "")},
		{"a queue whose first is not woken", ruleWake,
			change("fair_release",
				"if woken or removed then redis.call(publish, channel .. ':' .. first, '0') end", "")},
		{"a reader beside a writer", ruleOwner + ruleStored,
			change("read_acquire", "if call('hget', lock, 'mode') ~= 'read' and", "if false and")},
		{"a writer beside readers", ruleOwner + ruleStored + ruleReply,
			change("write_acquire", "if own == 0 then return ttl == -2 and -4 or ttl end", "")},
		{"a reader that ends the others' leases", ruleTrust + ruleStored + ruleReply,
			change("read_release", "ms = math.max(ms, call('pttl', timeout(fields[i], n)))", "ms = 1")},
		{"a writer that publishes nothing", ruleWake,
			change("write_release", "call(publish, channel, '1')", "")},

		{"a semaphore that grants more than it has", ruleTotal,
			change("sem_acquire", "free < n", "free + 1 < n")},
		{"a semaphore that grants a copy again", ruleTotal,
			change("sem_acquire", "if claim then", "if claim and claim ~= '1' then")},
		{"a semaphore that ignores the end of a claim", ruleTotal,
			change("sem_acquire", "if claim then", "if claim == '1' then")},
		{"a semaphore's release that publishes nothing", ruleWake,
			change("sem_add", "if free > 0 then call(publish, channel, free) end", "")},
		{"a semaphore's release that counts twice", ruleTotal,
			change("sem_add", "if earlier then return earlier end\ncall", "call")},
		{"an undo that gives back twice", ruleTotal,
			change("sem_undo", "call('set', latch, '-4', 'px', life)",
				"call('set', latch, granted and '1' or '-4', 'px', life)")},
		{"an undo that gives back what was not granted", ruleTotal,
			change("sem_undo", "if not granted then return 0 end", "")},
		{"a permit that comes back twice", ruleTotal,
			change("permit_release", "call('zrem', leases, ARGV[i])", "1")},
		{"a permit that its undo does not give back", ruleTotal + ruleWake,
			change("permit_undo", "if back > 0 then give(back) end", "")},
		{"a release of a permit that seals no claim", ruleTotal + ruleOwned,
			change("permit_release", "for i = 5, #KEYS do", "for i = 5, 4 do")},
		{"a permit that is granted after its undo", ruleTotal + ruleOwned,
			change("permit_acquire", "if call('exists', latch) == 1 then return {-4} end", "")},
		{"a permit whose lease a further copy does not start again", ruleStored,
			change("permit_acquire", "if score and tonumber(score) < deadline then", "if false then")},
		{"a permit whose lease does not end", ruleTotal,
			change("permit_acquire", "0, now)", "0, now - 3)")},
		{"a permit that counts too long", ruleStored,
			change("permit_acquire", "or now + lease", "or now + lease + 1")},
		{"a permit whose renewal shortens", ruleStored,
			change("permit_update", "shorten == '1' or", "true or")},
		{"a latch that opens silently", ruleWake,
			change("countdown_down", "if left == 0 then call(publish, channel, '0') end", "")},
		{"a latch that counts below zero", ruleTotal + ruleReply,
			change("countdown_down", "if left > 0 then", "if true then")},
		{"a latch that counts a copy", ruleTotal,
			change("countdown_down", "if earlier then return earlier end\nif", "if")},
		{"a rate that lets too many through", ruleTotal,
			change("rate_acquire", "0, now - interval)", "0, now - interval + 7)")},
		{"a rate whose permits come back late", ruleTotal,
			change("rate_acquire", "0, now - interval)) do", "0, now - interval - 7)) do")},
		{"a rate that grants after its undo", ruleReply + ruleTotal,
			change("rate_acquire", "if call('exists', latch) == 1 then return -4 end", "")},

		{"a key that outlives its deadline", ruleExpiry + ruleOwner + ruleReply + ruleStored,
			among(1, func(w *world) { w.clock.millis = w.server() - 30 })},
		{"a key that ends early", ruleExpiry + ruleTrust + ruleStored + ruleReply + ruleOwner,
			among(1, func(w *world) { w.clock.millis = w.server() + 30 })},
		{"an expiry that is skipped", ruleExpiry + ruleIndexes + ruleReply,
			among(1, func(w *world) { w.e.Env().Space.KeepExpired = true })},
		{"an event that is not sent", ruleExpiry,
			func(w *world) { w.e.Env().Config.NotifyEvents = 0 }},
		{"a key that is lost", ruleStored + ruleTrust + ruleReply + ruleQueue + ruleExpiry,
			withChance(500, func(w *world, chance *rand.Rand) {
				if e := w.anyKey(chance); e != nil {
					w.e.Env().Space.DB(0).Remove(e)
				}
			})},
		{"a deadline that is lost",
			ruleStored + ruleIndexes + ruleReply + ruleExpiry + rulePanic,
			withChance(500, func(w *world, chance *rand.Rand) {
				if e := w.anyKey(chance); e != nil {
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
			among(900, func(w *world) {
				w.e.Env().Table.Own()
				w.e.Env().Table.Lookup([]byte("hget")).Run = nil
			})},
	}
}
