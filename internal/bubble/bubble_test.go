package bubble

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestABubbleIsRecognised(t *testing.T) {
	if Inside() {
		t.Error("the test runs in a bubble")
	}
	synctest.Test(t, func(t *testing.T) {
		if !Inside() {
			t.Error("the bubble is not recognised")
		}
		time.Sleep(200 * 365 * 24 * time.Hour)
		if !Inside() {
			t.Error("the bubble is not recognised after 200 years")
		}
		recognised := make(chan bool)
		go func() { recognised <- Inside() }()
		if !<-recognised {
			t.Error("the bubble is not recognised in another goroutine")
		}
	})
	if Inside() {
		t.Error("the test runs in a bubble after the bubble has ended")
	}
}
