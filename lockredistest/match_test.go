package lockredistest

import (
	"runtime"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/fault"
)

// engineRequest is a request that notes which of its methods are not called by inside. In the server
// that is a data race: when the If does not return, the engine goes on and changes the request.
type engineRequest struct{ outside chan string }

// inside stands for the engine.
func (r engineRequest) inside(rule *fault.Rule) bool { return rule.Request(r) }

func (r engineRequest) note(method string) {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	for frame, more := frames.Next(); ; frame, more = frames.Next() {
		if strings.HasSuffix(frame.Function, "engineRequest.inside") {
			return
		}
		if !more {
			r.outside <- method
			return
		}
	}
}

func (r engineRequest) Client() fault.Client            { r.note("Client"); return fault.Client{Name: "c"} }
func (r engineRequest) Name() string                    { r.note("Name"); return "set" }
func (r engineRequest) Args() [][]byte                  { r.note("Args"); return [][]byte{[]byte("set")} }
func (r engineRequest) DB() int                         { r.note("DB"); return 3 }
func (r engineRequest) AnyKey(f func(string) bool) bool { r.note("AnyKey"); return f("k") }
func (r engineRequest) Script() string                  { r.note("Script"); return "s" }
func (r engineRequest) SHA() string                     { r.note("SHA"); return "s" }

func TestAnIfSeesACopyOfTheRequest(t *testing.T) {
	r := engineRequest{outside: make(chan string, 16)}
	var got Request
	rule := Match{Command: "set", Key: "k", Client: "c", Script: "s", If: func(r Request) bool {
		got = r
		return true
	}}.rule(new(Server), fault.LoseReply)
	if !r.inside(rule) {
		t.Error("the request does not fit")
	}
	if got.Command != "set" || len(got.Args) != 1 || got.Client != "c" || got.DB != 3 {
		t.Errorf("the If got %+v", got)
	}
	close(r.outside)
	for method := range r.outside {
		t.Errorf("%s was called by another goroutine", method)
	}
}
