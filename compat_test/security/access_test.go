package security

import (
	"net"
	"strings"
	"testing"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

func TestLoopbackIsTheOnlyAddressByDefault(t *testing.T) {
	set, err := lockredis.ParseSettings([]string{"--port", "auto"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, cfg := range map[string]lockredis.Config{"program": {Settings: set}, "library": {}} {
		srv := lockredis.New(cfg)
		if err := srv.Start(); err != nil {
			t.Fatal(err)
		}
		defer srv.Close()
		for _, addr := range srv.Addrs() {
			host, _, _ := net.SplitHostPort(addr)
			if !net.ParseIP(host).IsLoopback() {
				t.Errorf("the %s listens on %s", name, addr)
			}
		}
	}
}

// outside returns an address of this machine that is not loopback. A client that connects
// to it also comes from it.
func outside(t *testing.T) string {
	t.Helper()
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range addrs {
		if ip, ok := addr.(*net.IPNet); ok && ip.IP.To4() != nil && ip.IP.IsGlobalUnicast() {
			return ip.IP.String()
		}
	}
	t.Skip("this machine has only loopback addresses")
	return ""
}

// denied is the beginning of a refusal. The rest is advice, and differs from Redis's
// text.
const denied = "-DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the default user. " +
	"In this mode connections are only accepted from the loopback interface. "

func TestProtectedModeRefusesOtherMachinesWithoutAPassword(t *testing.T) {
	host, k, securePort := outside(t), newKeys(t), freePort(t)
	onBoth(t, k.args(securePort, "--bind", "0.0.0.0"), func(t *testing.T, addr string) {
		_, port, _ := net.SplitHostPort(addr)
		far, here := net.JoinHostPort(host, port), redistest.Dial(t, net.JoinHostPort("127.0.0.1", port))
		refused := func(c *wire.Conn) {
			t.Helper()
			v, err := c.Receive()
			if err != nil || !strings.HasPrefix(string(v.Raw), denied) {
				t.Errorf("refusal %q, %v", v.Raw, err)
			}
			if _, err := c.Receive(); !wire.IsClosed(err) {
				t.Errorf("after the refusal: %v", err)
			}
		}
		refused(redistest.Dial(t, far))
		refused(mustDialTLS(t, k, net.JoinHostPort(host, securePort)))
		if got := ask(t, here, "INFO stats"); !has(got, "rejected_connections:2\r\n") {
			t.Error(got)
		}
		for _, step := range []struct{ set, reply string }{
			{"requirepass sesame", "-NOAUTH Authentication required.\r\n"},
			{"requirepass \"\"", ""},
			{"protected-mode no", "+PONG\r\n"},
			{"protected-mode yes", ""},
		} {
			ask(t, here, "CONFIG SET "+step.set)
			if step.reply == "" {
				refused(redistest.Dial(t, far))
			} else if got := ask(t, redistest.Dial(t, far), "PING"); got != step.reply {
				t.Errorf("after CONFIG SET %s: %s", step.set, got)
			}
		}
	})
}

func TestLocalMeansThisMachineForProtectedDirectives(t *testing.T) {
	host := outside(t)
	for _, c := range []struct {
		value            string
		from127, fromFar bool
	}{{"no", false, false}, {"local", true, false}, {"yes", true, true}} {
		t.Run(c.value, func(t *testing.T) {
			args := []string{"--bind", "0.0.0.0", "--protected-mode", "no",
				"--enable-protected-configs", c.value, "--enable-debug-command", c.value}
			onBoth(t, args, func(t *testing.T, addr string) {
				_, port, _ := net.SplitHostPort(addr)
				for from, allowed := range map[string]bool{"127.0.0.1": c.from127, host: c.fromFar} {
					client := redistest.Dial(t, net.JoinHostPort(from, port))
					for command, refusal := range map[string]string{
						"CONFIG SET dbfilename other.rdb": "-ERR CONFIG SET failed (possibly related to argument 'dbfilename') - can't set protected config\r\n",
						"CONFIG SET dir .":                "-ERR CONFIG SET failed (possibly related to argument 'dir') - can't set protected config\r\n",
						"DEBUG SLEEP 0":                   "-ERR DEBUG command not allowed.",
					} {
						got := ask(t, client, command)
						if allowed && got != "+OK\r\n" || !allowed && !strings.HasPrefix(got, refusal) {
							t.Errorf("%s from %s: %s", command, from, got)
						}
					}
				}
			})
		})
	}
}

func TestLocalMeansThisMachineForTheLockCommands(t *testing.T) {
	host := outside(t)
	for _, c := range []struct {
		value            string
		from127, fromFar string
	}{
		{"no", "-ERR unknown command", "-ERR unknown command"},
		{"local", "*0", "-ERR %s command not allowed. If the enable-lock-commands option is set"},
		{"yes", "*0", "*0"},
	} {
		other := "yes"
		if c.value == other {
			other = "no"
		}
		addr := startLockredis(t, "--bind", "0.0.0.0", "--protected-mode", "no",
			"--enable-lock-commands", c.value)
		_, port, _ := net.SplitHostPort(addr)
		for from, want := range map[string]string{"127.0.0.1": c.from127, host: c.fromFar} {
			client := redistest.Dial(t, net.JoinHostPort(from, port))
			for _, name := range []string{"LOCK.LIST", "LOCK.LEAKS", "FAULT.LIST"} {
				want := strings.ReplaceAll(want, "%s", name)
				if got := ask(t, client, name); !strings.HasPrefix(got, want) {
					t.Errorf("%s from %s with %s: %s", name, from, c.value, got)
				}
			}
			for _, line := range []string{"LOCK.END x", "LOCK.AWAIT x FREE", "LOCK HELP", "CLOCK.NOW",
				"CLOCK.ADVANCE 1", "CLOCK.SET 1", "CLOCK.RESET", "CLOCK HELP"} {
				got := ask(t, client, line)
				if allowed := strings.HasPrefix(want, "*"); strings.HasPrefix(got, "-") == allowed {
					t.Errorf("%s from %s with %s: %s", line, from, c.value, got)
				}
			}
			got := ask(t, client, "CONFIG SET enable-lock-commands "+other)
			if !strings.Contains(got, "can't set immutable config") {
				t.Error(got)
			}
		}
	}
}

func TestTheLockCommandsNeedThePassword(t *testing.T) {
	addr := startLockredis(t, "--enable-lock-commands", "yes", "--requirepass", "sesame")
	client := redistest.Dial(t, addr)
	for _, command := range []string{"LOCK.LIST", "LOCK.LEAKS", "LOCK.END x", "LOCK.AWAIT x FREE", "LOCK HELP",
		"CLOCK.NOW", "CLOCK.ADVANCE 1", "CLOCK.SET 1", "CLOCK.RESET", "CLOCK HELP",
		"FAULT.LIST", "FAULT.CLEAR", "FAULT HELP"} {
		if got := ask(t, client, command); got != "-NOAUTH Authentication required.\r\n" {
			t.Errorf("%s: %s", command, got)
		}
	}
	for _, step := range []struct{ line, reply string }{
		{"AUTH sesame", "+OK"}, {"LOCK.LIST", "*0"}, {"MULTI", "+OK"}, {"LOCK.LIST a*", "+QUEUED"},
		{"LOCK.LEAKS", "+QUEUED"}, {"EXEC", "*2\r\n*0\r\n*0"},
	} {
		if got := ask(t, client, step.line); got != step.reply+"\r\n" {
			t.Errorf("%s: %q", step.line, got)
		}
	}
}

func TestBeforeAuthOnlyAuthHelloQuitAndResetRun(t *testing.T) {
	onBoth(t, nil, func(t *testing.T, addr string) {
		ask(t, redistest.Dial(t, addr), "CONFIG SET requirepass 'open sesame'")
		for _, command := range []string{"PING", "GET k", "EVAL 'return 1' 0", "CONFIG SET requirepass x",
			"SHUTDOWN NOSAVE", "SUBSCRIBE x", "MULTI", "COMMAND"} {
			if got := ask(t, redistest.Dial(t, addr), command); got != "-NOAUTH Authentication required.\r\n" {
				t.Errorf("%s: %s", command, got)
			}
		}
		for command, want := range map[string]string{
			"AUTH guess":                               "-WRONGPASS invalid username-password pair or user is disabled.\r\n",
			"AUTH 'open sesam'":                        "-WRONGPASS",
			"AUTH 'open sesame '":                      "-WRONGPASS",
			"AUTH \"\"":                                "-WRONGPASS",
			"AUTH nobody 'open sesame'":                "-WRONGPASS",
			"AUTH Default 'open sesame'":               "-WRONGPASS",
			"HELLO 3 AUTH default guess":               "-WRONGPASS",
			"HELLO 3":                                  "-NOAUTH HELLO must be called",
			"AUTH default 'open sesame'":               "+OK",
			"AUTH 'open sesame'":                       "+OK",
			"HELLO 2 AUTH default 'open sesame'":       "*14",
			"RESET":                                    "+RESET",
			"QUIT":                                     "+OK",
			"AUTH " + strings.Repeat("x", 16_384):      "-WRONGPASS",
			"AUTH " + strings.Repeat("x", 16_385):      "-ERR Protocol error: unauthenticated bulk length",
			"AUTH default " + strings.Repeat("x", 600): "-WRONGPASS",
		} {
			c := redistest.Dial(t, addr)
			if got := ask(t, c, command); !strings.HasPrefix(got, want) {
				t.Errorf("%.60s: %.200s", command, got)
			}
		}
	})
}
