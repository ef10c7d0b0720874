package rlock_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	flag.Set("test.parallel", "4") // one for each foreign server; -parallel overrides it
	goleak.VerifyTestMain(m)
}
