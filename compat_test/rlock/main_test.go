package rlock_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	flag.Set("test.parallel", "6") // the tests wait for time to pass; -parallel overrides it
	goleak.VerifyTestMain(m)
}
