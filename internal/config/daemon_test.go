package config

import (
	"strings"
	"testing"
)

func TestOnlyTheProgramDetachesItself(t *testing.T) {
	for _, test := range []struct {
		detaches bool
		args     string
		want     string
	}{
		{true, "--daemonize yes", ""},
		{true, "--daemonize yes --supervised systemd", ""},
		{true, "--daemonize yes --exit-with-parent yes", noParentOfDaemon},
		{true, "--daemonize yes --exit-with-parent 4711", noParentOfDaemon},
		{false, "--daemonize yes", noDaemon},
		{false, "--daemonize no --exit-with-parent yes", ""},
	} {
		c, err := ParseProgram(Program{Detaches: test.detaches}, strings.Fields(test.args), nil)
		if test.want != "" {
			if err == nil || !strings.HasSuffix(err.Error(), test.want) {
				t.Errorf("%+v: %v", test, err)
			}
			continue
		}
		if err != nil || c.Daemonize != (c.Get("daemonize") == "yes") {
			t.Errorf("%+v: %v", test, err)
		}
	}
}
