package abuse

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// idleClients is how many clients stay connected after a command with much data, and
// idleBytes is how much data each of them sends or gets. A client may keep idleKept bytes.
const (
	idleClients = 10
	idleBytes   = 1 << 20
	idleKept    = 32 << 10
)

// lastWords are what a client does before it is silent. %s is much data, %many are many keys, and
// %d is the client's number.
var lastWords = map[string][][]string{
	"GET":                         {{"GET", "big"}},
	"SET":                         {{"SET", "%d", "%s"}, {"DEL", "%d"}},
	"SET last":                    {{"SET", "one", "%s"}},
	"ECHO":                        {{"ECHO", "%s"}},
	"an unknown command":          {{"%s"}},
	"an error with an argument":   {{"CONFIG", "%s"}},
	"LRANGE":                      {{"LRANGE", "list", "0", "-1"}},
	"RPUSH of many":               {{"RPUSH", "one-list", "%many"}},
	"MGET of many":                {{"MGET", "%many"}},
	"EVAL with an argument":       {{"EVAL", "return 1", "0", "%s"}},
	"EVAL with a reply":           {{"EVAL", "return ARGV[1]", "0", "%s"}},
	"EVAL that reads":             {{"EVAL", "return redis.call('GET', 'big')", "0"}},
	"EVAL that calls":             {{"EVAL", "return redis.call('ECHO', ARGV[1])", "0", "%s"}},
	"an EVAL that fails":          {{"EVAL", "return redis.error_reply(ARGV[1])", "0", "%s"}},
	"EXEC":                        {{"MULTI"}, {"ECHO", "%s"}, {"GET", "big"}, {"EXEC"}},
	"DISCARD":                     {{"MULTI"}, {"ECHO", "%s"}, {"DISCARD"}},
	"UNWATCH":                     {{"WATCH", "%many"}, {"UNWATCH"}},
	"UNSUBSCRIBE":                 {{"SUBSCRIBE", "%s"}, {"UNSUBSCRIBE", "%s"}},
	"BLPOP that is served":        {{"RPUSH", "one-list", "%s"}, {"BLPOP", "one-list", "%many", "0"}},
	"BLPOP that ends":             {{"BLPOP", "%many", "0.001"}},
	"XADD and XREAD":              {{"XADD", "one-stream", "1-%d", "f", "%s"}, {"XREAD", "STREAMS", "one-stream", "1-%d"}, {"DEL", "one-stream"}},
	"AUTH":                        {{"AUTH", "%s"}},
	"CLIENT TRACKING of prefixes": {{"CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "%d-%s"}, {"CLIENT", "TRACKING", "OFF"}},
	"DUMP and RESTORE":            {{"DUMP", "big"}, {"RESTORE", "%d", "0", "%s"}},
	"PUBLISH":                     {{"PUBLISH", "c", "%s"}},
	"COMMAND GETKEYS":             {{"COMMAND", "GETKEYS", "MSET", "%many"}},
	"a command with an empty key": {{"GET", ""}, {"GET", "big"}},
	"SORT":                        {{"SORT", "list", "ALPHA"}},
	"OBJECT HELP behind GET":      {{"GET", "big"}, {"OBJECT", "HELP"}},
}

// words returns the command as the client sends it.
func words(command []string, client int) (args []string) {
	for _, word := range command {
		if word == "%many" {
			for i := range idleBytes / 64 {
				args = append(args, fmt.Sprintf("key %d of %d, with some more bytes", i, client))
			}
			continue
		}
		word = strings.ReplaceAll(word, "%s", strings.Repeat("x", idleBytes))
		args = append(args, strings.ReplaceAll(word, "%d", fmt.Sprint(client)))
	}
	return args
}

func TestClientsThatStayKeepNoLargeBuffers(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	v := attack(t, nil)
	setup := v.dial()
	v.want(setup, "+OK", "SET", "big", strings.Repeat("x", idleBytes))
	for range 16 {
		v.do(setup, "RPUSH", "list", strings.Repeat("x", idleBytes/16))
	}
	links := map[string]func() (net.Conn, error){
		"socket": func() (net.Conn, error) { return net.Dial("tcp", v.addr) },
		"pipe":   func() (net.Conn, error) { return v.srv.Dial(context.Background()) },
	}
	for name, commands := range lastWords {
		for kind, dial := range links {
			t.Run(name+" by "+kind, func(t *testing.T) {
				var clients [idleClients]*wire.Conn
				for i := range clients {
					nc, err := dial()
					if err != nil {
						t.Fatal(err)
					}
					clients[i] = wire.NewConn(nc)
					defer clients[i].Close()
					v.want(clients[i], "+PONG", "PING")
				}
				speak := func(from int, clients ...*wire.Conn) {
					for i, c := range clients {
						for _, command := range commands {
							if _, err := c.Do(words(command, from+i)...); err != nil {
								t.Fatal(err)
							}
						}
					}
					v.do(setup, "DEL", "one-list", "one")
					v.do(setup, "SCRIPT", "FLUSH")
				}
				speak(idleClients, v.dial()) // what the server itself keeps of its last client
				before := measure()
				speak(0, clients[:]...)
				eventually(t, 5*time.Second, func() string {
					kept := int64(measure().heap) - int64(before.heap)
					if kept <= idleClients*idleKept {
						t.Logf("%d bytes", kept)
						return ""
					}
					return fmt.Sprintf("%s by %s: %d bytes of %d clients", name, kind, kept, idleClients)
				})
			})
		}
	}
}
