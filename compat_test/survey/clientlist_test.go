package survey

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// clientLine returns the fields of the client named subject, as another client sees it.
func (s *server) clientLine() map[string]string {
	s.t.Helper()
	return lineOf(string(s.do("CLIENT", "LIST").Str))
}

// lineOf returns the fields of the client named subject.
func lineOf(list string) map[string]string {
	values := map[string]string{}
	for line := range strings.Lines(list) {
		if !strings.Contains(line, " name=subject ") {
			continue
		}
		for field := range strings.FieldsSeq(line) {
			name, value, _ := strings.Cut(field, "=")
			values[name] = value
		}
	}
	return values
}

// exact are the fields of CLIENT LIST that are the same on both servers in each situation.
var exact = []string{"flags", "db", "sub", "psub", "ssub", "multi", "qbuf", "argv-mem", "multi-mem", "oll",
	"omem", "events", "cmd", "redir", "resp"}

func TestClientListDescribesSituationsAsInRedis(t *testing.T) {
	oracle, target := start(t)
	var subjects []*wire.Conn
	for _, s := range []*server{oracle, target} {
		c, err := wire.Dial(s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Do("CLIENT", "SETNAME", "subject"); err != nil {
			t.Fatal(err)
		}
		subjects = append(subjects, c)
	}
	for _, row := range []struct {
		name, send string
		replies    int
	}{
		{"idle", "", 0},
		{"a command", "GET k\r\n", 1},
		{"WATCH", "WATCH k l\r\n", 1},
		{"MULTI", "MULTI\r\n", 1},
		{"a queue", "SET k value\r\nGET kkkkkkkk\r\n", 2},
		{"a queue that is dropped", "DISCARD\r\n", 1},
		{"a part of a command", "*2\r\n$4\r\nECHO\r\n$100\r\n", 0},
		{"the rest of it", strings.Repeat("x", 100) + "\r\n", 1},
		{"a blocked command", "BLPOP nokey other 0\r\n", 0},
		{"commands behind it", "PING\r\nPING\r\n", 0},
	} {
		var got [2]map[string]string
		deadline := time.Now().Add(5 * time.Second)
		for i, s := range []*server{oracle, target} {
			if err := subjects[i].WriteRaw([]byte(row.send)); err != nil {
				t.Fatal(err)
			}
			for range row.replies {
				if _, err := subjects[i].Receive(); err != nil {
					t.Fatal(err)
				}
			}
			got[i] = s.clientLine()
		}
		for clientDiffers(row.name, got) != "" && time.Now().Before(deadline) { // the bytes are still on their way
			got[0], got[1] = oracle.clientLine(), target.clientLine()
		}
		if diff := clientDiffers(row.name, got); diff != "" {
			t.Errorf("%s:%s", row.name, diff)
		}
		judgeSizes(t, row.name, got[1])
	}
}

// clientDiffers returns the exact fields in which two clients differ, "" if there are none.
func clientDiffers(situation string, got [2]map[string]string) (diff string) {
	for _, name := range exact {
		if situation == "a part of a command" && (name == "argv-mem" || name == "qbuf") {
			continue // lockredis parses a command when it has all of it
		}
		if got[0][name] != got[1][name] {
			diff += " " + name + "=" + got[1][name] + ", want " + got[0][name]
		}
	}
	return diff
}

// judgeSizes checks what each server decides for itself: that the sum is one, and that what is
// used fits.
func judgeSizes(t *testing.T, situation string, line map[string]string) {
	t.Helper()
	n := func(name string) int {
		v, err := strconv.Atoi(line[name])
		if err != nil {
			t.Errorf("%s: %s=%s", situation, name, line[name])
		}
		return v
	}
	parts := n("qbuf") + n("qbuf-free") + n("argv-mem") + n("multi-mem") + n("rbs") + n("omem")
	if n("tot-mem") <= parts || n("tot-mem") > parts+4096 || n("rbp") > n("rbs") || n("obl") > n("rbs") {
		t.Errorf("%s: %v", situation, line)
	}
}

func TestClientInfoInExecShowsTheTransaction(t *testing.T) {
	oracle, target := start(t)
	var got [2]map[string]string
	for i, s := range []*server{oracle, target} {
		s.do("CLIENT", "SETNAME", "subject")
		s.do("WATCH", "k")
		s.do("MULTI")
		s.do("SET", "k", "value")
		s.do("CLIENT", "INFO")
		s.do("CLIENT", "LIST")
		reply := s.do("EXEC")
		got[i] = lineOf(string(reply.Elems[1].Str))
		if list := lineOf(string(reply.Elems[2].Str)); list["flags"] != got[i]["flags"] || list["multi"] != got[i]["multi"] {
			t.Errorf("CLIENT LIST: %v", list)
		}
	}
	if diff := clientDiffers("EXEC", got); diff != "" {
		t.Error(diff)
	}
	if flags := target.clientLine()["flags"]; flags != "N" {
		t.Errorf("after EXEC flags are %s", flags)
	}
}

func TestClientListCountsTheOutputOfAClientThatDoesNotRead(t *testing.T) {
	_, target := start(t)
	target.do("SET", "k", strings.Repeat("x", 16<<20))
	c, err := wire.Dial(target.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Do("CLIENT", "SETNAME", "subject"); err != nil {
		t.Fatal(err)
	}
	if err := c.Send("GET", "k"); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(wire.DefaultTimeout)
	for {
		line := target.clientLine()
		omem, _ := strconv.Atoi(line["omem"])
		if line["events"] == "rw" && line["oll"] == "1" && omem >= 16<<20 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%v", line)
		}
	}
}
