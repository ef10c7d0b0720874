package fault_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/engine"
)

// kinds are faults that hit any request or message, as FAULT.ADD wants them.
var kinds = []string{
	"lose-request", "hold-request", "hold-request FOR 1", "fail-request ERROR ERR", "end-lease", "stop FOR 1",
	"stop FOR 100000000", "lose-reply", "mute", "delay-reply", "delay-reply FOR 1", "duplicate-reply",
	"drop-message", "delay-message", "delay-message FOR 1",
}

func TestFaultsHitNeitherTheKitNorTheCommandsAboutFaults(t *testing.T) {
	s := open(t, map[string]string{"enable-lock-commands": "yes"})
	defer s.srv.Close()
	c := s.dial()
	for i, kind := range kinds {
		c.says(fmt.Sprintf(":%d\r\n", i+1), "FAULT.ADD "+kind+" TIMES ALWAYS")
		s.kits("+OK\r\n", "SET k v EX 100")
		s.kits("$1\r\nv\r\n", "GET k")
		c.says("*0\r\n", "LOCK.LIST")
		c.says(":1\r\n", "FAULT.CLEAR")
		c.says("+PONG\r\n", "PING")
	}
}

func TestOnlyTheKitHasFaultsUnlessTheyAreSwitchedOn(t *testing.T) {
	off := start(t)
	off.kits(":1\r\n", "FAULT.ADD mute COMMAND get")
	c := off.dial()
	for _, line := range []string{"FAULT.ADD mute", "FAULT.LIST", "FAULT.RELEASE 1", "FAULT.REMOVE 1", "FAULT.CLEAR", "FAULT HELP"} {
		c.send(line)
		if got, err := c.Receive(); err != nil || !strings.HasPrefix(string(got.Raw), "-ERR unknown command") {
			t.Errorf("%s: %q, %v", line, got.Raw, err)
		}
	}
	c.says("*1\r\n$-1\r\n", "COMMAND INFO fault.add")
	c.says("*0\r\n", "COMMAND DOCS fault.add")

	on := open(t, map[string]string{"enable-lock-commands": "yes"})
	defer on.srv.Close()
	c = on.dial()
	c.says(":1\r\n", "FAULT.ADD mute COMMAND get")
	for _, name := range []string{"fault.add", "fault.list", "fault.release", "fault.remove", "fault.clear", "fault"} {
		c.send("COMMAND DOCS " + name)
		if got, err := c.Receive(); err != nil || !strings.Contains(string(got.Raw), "$7\r\nsummary\r\n") {
			t.Errorf("COMMAND DOCS %s: %q, %v", name, got.Raw, err)
		}
	}
	c.says("-ERR unknown subcommand 'EXPLODE'. Try FAULT HELP.\r\n", "FAULT EXPLODE")
	c.says("-ERR wrong number of arguments for 'fault' command\r\n", "FAULT")
	c.Send("EVAL", "return redis.call('FAULT.CLEAR')", "0")
	if got, err := c.Receive(); err != nil || !strings.HasPrefix(string(got.Raw), "-ERR This Redis command is not allowed from script") {
		t.Errorf("a script gets %q, %v", got.Raw, err)
	}
	if n := len(on.list()); n != 1 {
		t.Errorf("a script has cleared the faults: %d are left", n)
	}
}

// 1,000 faults are asked one after the other, and each one counts for itself.
func TestAThousandFaultsTakeTheirTurns(t *testing.T) {
	s := start(t)
	for i := range 1000 {
		s.kits(fmt.Sprintf(":%d\r\n", i+1), fmt.Sprintf("FAULT.ADD fail-request KEY k%d* ERROR 'ERR number %d'", i, i))
	}
	c := s.dial()
	for i := range 1000 {
		c.says(fmt.Sprintf("-ERR number %d\r\n", i), fmt.Sprintf("GET k%d-%s", i, "x"))
	}
	c.says("$-1\r\n", "GET k0-x")
	s.kits(":1000\r\n", "FAULT.CLEAR")
}

func TestServersOfOneProcessDoNotShareFaults(t *testing.T) {
	var servers []*server
	for range 10 {
		servers = append(servers, start(t))
	}
	for i, s := range servers {
		s.kits(":1\r\n", fmt.Sprintf("FAULT.ADD fail-request COMMAND get ERROR 'ERR server %d'", i))
	}
	servers[3].kits(":2\r\n", "FAULT.ADD stop COMMAND set FOR 100000000")
	stopped := servers[3].dial()
	stopped.send("SET k v")
	servers[3].holds(2, 1)
	for i, s := range servers {
		if i == 3 {
			continue
		}
		c := s.dial()
		c.says(fmt.Sprintf("-ERR server %d\r\n", i), "GET k")
		c.says("+OK\r\n", "SET k v")
	}
	stopped.silent()
}

func TestAResetEndsFaultsAndLetsGoWhatTheyHold(t *testing.T) {
	s := start(t)
	s.kits(":1\r\n", "FAULT.ADD hold-request COMMAND get TIMES ALWAYS")
	s.kits(":2\r\n", "FAULT.ADD delay-reply COMMAND set TIMES ALWAYS")
	get, set := s.dial(), s.dial()
	get.send("GET k")
	set.send("SET k v")
	s.holds(1, 1)
	s.holds(2, 1)
	if err := s.reset(); err != nil {
		t.Fatal(err)
	}
	get.hears("$1\r\nv\r\n")
	set.hears("+OK\r\n")
	s.kits("*0\r\n", "FAULT.LIST")
}

func TestAServerClosesWhateverFaultsHold(t *testing.T) {
	for _, kind := range kinds {
		for _, left := range []bool{false, true} {
			s := open(t, map[string]string{"control": "yes"})
			s.kits(":1\r\n", "FAULT.ADD "+kind+" TIMES ALWAYS")
			c, sub, waiter := s.dial(), s.dial(), s.dial()
			sub.Send("SUBSCRIBE", "news")
			waiter.Send("BLPOP", "list", "0.001")
			for range 3 {
				c.Send("SET", "k", "v", "PX", "1000") // the connection may have ended
				c.Send("PUBLISH", "news", "hello")
			}
			s.awaits("the connections are open", func() bool {
				_, total := s.inside.ConnectionCounts()
				return total == 3
			})
			if left {
				c.Close()
				sub.Close()
			}
			s.kit("FAULT.RELEASE 1 1")
			if err := s.srv.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Clients, faults, releases and disconnections at random moments leave a server that works.
func TestFaultsUnderLoad(t *testing.T) {
	s := start(t)
	var clients sync.WaitGroup
	quit := make(chan struct{})
	for n := range 8 {
		clients.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-quit:
					return
				default:
				}
				c := s.dial()
				c.SetTimeout(2 * time.Millisecond)
				for j := range 5 {
					switch (n + i + j) % 5 {
					case 0:
						c.Send("MULTI")
						c.Send("INCR", "n")
						c.Send("EXEC")
					case 1:
						c.Send("BLPOP", "list", "0.001")
					case 2:
						c.Send("EVAL", "return redis.call('INCR', KEYS[1])", "1", "n")
					case 3:
						c.Send("SUBSCRIBE", "news")
					default:
						c.Send("PUBLISH", "news", "hello")
						c.Send("SET", "k", "v", "PX", "1000")
					}
					c.Receive()
				}
				c.Close()
			}
		})
	}
	id := 0
	for round := range 20 {
		for i, kind := range kinds {
			id++
			s.kits(fmt.Sprintf(":%d\r\n", id), fmt.Sprintf("FAULT.ADD %s NTH %d TIMES %d", kind, 1+i%3, 1+round%4))
			s.kit(fmt.Sprintf("FAULT.RELEASE %d 1", id-i/2))
		}
		s.kit(fmt.Sprintf("FAULT.REMOVE %d", id-3))
		if round%3 == 0 {
			s.kit("FAULT.CLEAR")
		}
		s.kit("RPUSH list a")
	}
	close(quit)
	clients.Wait()
	s.kit("FAULT.CLEAR")
	s.dial().says("+PONG\r\n", "PING")
	s.awaits("the clients have left", func() bool { return s.connections() <= 1 })
	s.kits("*0\r\n", "FAULT.LIST")
	e := s.inside.Engine.(*engine.Engine)
	e.Outside(func() {
		if err := e.Check(); err != nil {
			t.Error(err)
		}
	})
}
