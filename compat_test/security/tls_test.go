package security

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/internal/testcert"
	"github.com/lockredis/lockredis/rlock"
)

func openURL(t *testing.T, k *keys, addr string) *redis.Client {
	t.Helper()
	opts, err := redis.ParseURL("rediss://" + addr)
	if err != nil {
		t.Fatal(err)
	}
	opts.TLSConfig = k.config(k.client)
	opts.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	rdb := redis.NewClient(opts)
	t.Cleanup(func() { rdb.Close() })
	return rdb
}

func TestLocksAreHeldRenewedAndHandedOverOverTLS(t *testing.T) {
	withTLS(t, nil, func(t *testing.T, k *keys, plain, secure string) {
		const lease = 3 * time.Second
		open := func() *rlock.Client {
			c := rlock.New(openURL(t, k, secure), rlock.Options{Lease: lease})
			t.Cleanup(func() { c.Close(context.Background()) })
			return c
		}
		held, err := open().Lock("order").Acquire(t.Context(), rlock.Wait(0))
		if err != nil {
			t.Fatal(err)
		}
		waiter := open().Lock("order")
		var next *rlock.Hold
		got := make(chan error, 1)
		go func() {
			var err error
			next, err = waiter.Acquire(context.Background(), rlock.Wait(time.Minute))
			got <- err
		}()
		c := redistest.Dial(t, plain)
		left := int64(lease / time.Millisecond)
		poll(t, "that the lease is renewed", func() bool {
			before := left
			v, err := c.Do("PTTL", "order")
			left, _ = v.Int()
			return err == nil && left > before
		})
		if len(got) > 0 {
			t.Fatalf("the waiter has the lock that is held: %v", <-got)
		}
		if err := held.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-got; err != nil {
			t.Fatal(err)
		}
		if err := next.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := ask(t, c, "EXISTS order"); got != ":0\r\n" {
			t.Errorf("EXISTS: %s", got)
		}
	})
}

func TestClientsMustShowTheRequiredCertificate(t *testing.T) {
	for _, c := range []struct {
		auth                  string
		none, known, stranger bool // which clients are accepted
	}{{"yes", false, true, false}, {"optional", true, true, false}, {"no", true, true, true}} {
		t.Run(c.auth, func(t *testing.T) {
			withTLS(t, []string{"--tls-auth-clients", c.auth},
				func(t *testing.T, k *keys, _, secure string) {
					for who, shown := range map[string][]testcert.Pair{"none": nil, "known": {k.client},
						"stranger": {k.stranger}} {
						want := map[string]bool{"none": c.none, "known": c.known, "stranger": c.stranger}[who]
						if err := pings(t, secure, k.config(shown...)); (err == nil) != want {
							t.Errorf("certificate %s: %v", who, err)
						}
					}
				})
		})
	}
}

func TestClientRefusesAServerOfAnotherAuthority(t *testing.T) {
	withTLS(t, nil, func(t *testing.T, k *keys, _, secure string) {
		conf := k.config(k.client)
		conf.RootCAs = newAuthority(t).Pool
		var unknown *tls.CertificateVerificationError
		if err := pings(t, secure, conf); !errors.As(err, &unknown) {
			t.Errorf("error %v", err)
		}
		if err := pings(t, secure, k.config(k.client)); err != nil {
			t.Errorf("after that: %v", err)
		}
	})
}

func TestPlainTextOnTheTLSPortIsClosed(t *testing.T) {
	withTLS(t, nil, func(t *testing.T, k *keys, _, secure string) {
		nc, err := net.Dial("tcp", secure)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		nc.SetDeadline(time.Now().Add(10 * time.Second))
		nc.Write([]byte("*1\r\n$4\r\nPING\r\n"))
		var answer []byte
		for b := make([]byte, 512); err == nil; {
			var n int
			n, err = nc.Read(b)
			answer = append(answer, b[:n]...)
		}
		if errors.Is(err, context.DeadlineExceeded) || strings.ContainsAny(string(answer), "+-") {
			t.Errorf("answer %q, then %v", answer, err)
		}
		if err := pings(t, secure, k.config(k.client)); err != nil {
			t.Errorf("after that: %v", err)
		}
	})
}

func TestOnlyAllowedVersionsAndCiphersWork(t *testing.T) {
	withTLS(t, []string{"--tls-protocols", "TLSv1.2", "--tls-ciphers",
		"ECDHE-ECDSA-AES256-GCM-SHA384"},
		func(t *testing.T, k *keys, _, secure string) {
			new := k.config(k.client)
			new.MinVersion = tls.VersionTLS13
			if err := pings(t, secure, new); err == nil {
				t.Error("TLS 1.3 works, though only TLSv1.2 is allowed")
			}
			other := k.config(k.client)
			other.CipherSuites = []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}
			if err := pings(t, secure, other); err == nil {
				t.Error("a cipher works that is not allowed")
			}
			nc, err := tls.Dial("tcp", secure, k.config(k.client))
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			if id := nc.ConnectionState().CipherSuite; id != tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 {
				t.Errorf("cipher %s", tls.CipherSuiteName(id))
			}
		})
}

// The test checks the replies to CONFIG SET and the configuration after a failure.
func TestConfigSetReloadsOrRestores(t *testing.T) {
	const failed = "Unable to update TLS configuration. Check server logs."
	withTLS(t, nil, func(t *testing.T, k *keys, plain, secure string) {
		c, old := redistest.Dial(t, plain), mustDialTLS(t, k, secure)
		for _, step := range []struct{ set, want string }{
			{"tls-cert-file nowhere", failed},
			{"tls-key-file " + k.file("client.key"), failed},
			{"tls-cert-file " + k.file("client.crt") + " tls-key-file " + k.file("client.key"), "OK"},
			{"tls-cert-file " + k.file("server.crt") + " tls-key-file " + k.file("server.key"), "OK"},
			{"tls-ca-cert-file \"\"", failed},
			{"tls-ca-cert-file nowhere", failed},
			{"tls-protocols SSLv3", failed},
			{"tls-ciphers NO-SUCH-CIPHER", failed},
			{"tls-ciphersuites NO-SUCH-SUITE", failed},
			{"tls-auth-clients perhaps", "argument(s) must be one of the following: no, yes, optional"},
			{"tls-auth-clients optional", "OK"},
			{"tls-prefer-server-ciphers perhaps", "argument must be 'yes' or 'no'"},
			{"tls-prefer-server-ciphers yes", "OK"},
			{"tls-session-caching no", "OK"},
			{"tls-session-cache-timeout 60", "OK"},
			{"tls-session-cache-size -1", "argument must be between 0 and 2147483647 inclusive"},
			{"tls-key-file-pass unused", "OK"},
		} {
			if got := ask(t, c, "CONFIG SET "+step.set); !has(got, step.want) {
				t.Errorf("CONFIG SET %s: %s", step.set, got)
			}
		}
		for name, want := range map[string]string{"tls-cert-file": k.file("server.crt"),
			"tls-ca-cert-file": k.file("ca.crt"), "tls-auth-clients": "optional",
			"tls-key-file-pass": "unused", "tls-protocols": "", "tls-session-caching": "no"} {
			v, err := c.Do("CONFIG", "GET", name)
			if err != nil || len(v.Elems) != 2 || string(v.Elems[1].Str) != want {
				t.Errorf("CONFIG GET %s: %s %v", name, v, err)
			}
		}
		if err := pings(t, secure, k.config()); err != nil {
			t.Errorf("without a certificate, which is optional now: %v", err)
		}
		if _, err := old.Do("PING"); err != nil {
			t.Errorf("the earlier connection: %v", err)
		}
	})
}

// The server reads a renewed certificate when CONFIG SET names its file again.
func TestConfigSetOfTheSameFileReadsItAgain(t *testing.T) {
	withTLS(t, nil, func(t *testing.T, k *keys, plain, secure string) {
		fresh := issue(t, k.authority, "renewed")
		k.write(t, "server", fresh)
		subject := func() string {
			nc, err := tls.Dial("tcp", secure, k.config(k.client))
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			return nc.ConnectionState().PeerCertificates[0].Subject.CommonName
		}
		c := redistest.Dial(t, plain)
		if got := subject(); got == "renewed" && !strings.Contains(t.Name(), "redis-server") {
			t.Error("the file was read without being asked for")
		}
		change := "CONFIG SET tls-cert-file " + k.file("server.crt") +
			" tls-key-file " + k.file("server.key")
		if got := ask(t, c, change); !has(got, "OK") {
			t.Fatal(got)
		}
		if got := subject(); got != "renewed" {
			t.Errorf("subject %s", got)
		}
	})
}

// redis-cli uses OpenSSL for TLS, like every C client.
func TestRedisCLIGetsTheSameRepliesFromBothServers(t *testing.T) {
	cli := redistest.Tool(t, "redis-cli")
	script := strings.Join([]string{"SET k v", "GET k", "HSET h f 1", "HGETALL h",
		"EVAL 'return {KEYS[1],1,false}' 1 a", "EVAL nonsense 0", "NOPE",
		"RPUSH l " + strings.Repeat("x ", 2000), "LRANGE l 0 -1", "SETRANGE big 200000 x",
		"GET big", "CONFIG GET tls-auth-clients"}, "\n") + "\n"
	outputs := map[string]string{}
	withTLS(t, nil, func(t *testing.T, k *keys, _, secure string) {
		_, port, _ := net.SplitHostPort(secure)
		for _, version := range []string{"-2", "-3"} {
			command := exec.Command(cli, version, "-p", port, "--tls", "--cacert", k.file("ca.crt"),
				"--cert", k.file("client.crt"), "--key", k.file("client.key"))
			command.Stdin = strings.NewReader(script)
			out, err := command.CombinedOutput()
			if err != nil || !has(string(out), "yes") {
				t.Fatalf("%v\n%s", err, out)
			}
			if before, ok := outputs[version]; ok && before != string(out) {
				t.Errorf("redis-cli %s: lockredis\n%.2000s\nredis-server\n%.2000s", version, before, out)
			}
			outputs[version] = string(out)
		}
	})
}

// Large replies exceed a TLS record or a socket's buffer. The test also sends many
// commands in one write, and has a client that does not read.
func TestLargeAndManyRepliesArriveOverTLS(t *testing.T) {
	withTLS(t, []string{"--client-output-buffer-limit", "pubsub 1mb 1mb 60"},
		func(t *testing.T, k *keys, plain, secure string) {
			c := mustDialTLS(t, k, secure)
			value := strings.Repeat("0123456789", 150_000)
			if got := ask(t, c, "SET big "+value); !has(got, "OK") {
				t.Fatal(got)
			}
			if v, err := c.Do("GET", "big"); err != nil || string(v.Str) != value {
				t.Fatalf("GET: %d bytes, %v", len(v.Str), err)
			}
			if err := c.SendAll(slices.Repeat([][]string{{"INCR", "n"}}, 2000)...); err != nil {
				t.Fatal(err)
			}
			for i := range 2000 {
				v, err := c.Receive()
				if n, _ := v.Int(); err != nil || n != int64(i+1) {
					t.Fatalf("reply %d: %s %v", i, v, err)
				}
			}
			deaf := mustDialTLS(t, k, secure)
			ask(t, deaf, "SUBSCRIBE news")
			p := redistest.Dial(t, plain)
			poll(t, "that the subscriber that does not read is cut off", func() bool {
				v, err := p.Do("PUBLISH", "news", value)
				return err == nil && string(v.Raw) == ":0\r\n"
			})
		})
}
