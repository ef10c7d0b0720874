package main

import (
	"testing"
	"time"
)

func TestUsageBetweenTwoMomentsIsWithoutTheSecondInfo(t *testing.T) {
	before := usage{time.Second, time.Second, 10, 3, calls{"get": 1}}
	after := usage{3 * time.Second, 2 * time.Second, 31, 5, calls{"get": 5, "set": 2, "hello": 0.1}}
	u := after.since(before).each(2)
	if u.client != time.Second || u.server != time.Second/2 || u.reads != 10 || u.connections != 1 {
		t.Errorf("used %+v", u)
	}
	if got := u.commands(); got != 3.05 {
		t.Errorf("%g commands", got)
	}
	if got := u.plus(u).calls.String(); got != "get 4.0, set 2.0, hello 0.1" {
		t.Errorf("the commands are %q", got)
	}
	if got := u.calls.String(); got != "get 2.0, set 1.0, hello 0.1" {
		t.Errorf("the commands are %q", got)
	}
	if got := u.each(2).calls.String(); got != "get 1.0, set 0.5" {
		t.Errorf("the commands are %q", got)
	}
}
