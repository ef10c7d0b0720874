package lockredistest

import "fmt"

// TB is what the package needs of a test: a *testing.T, a *testing.B, or what GinkgoT() returns.
type TB interface {
	Helper()
	Cleanup(func())
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Failed() bool
	Log(args ...any)
}

// noTest is the TB of a server that Run started. It embeds no TB, so the compiler reports a
// method that is missing here.
type noTest struct{}

func (noTest) Helper()                           {}
func (noTest) Cleanup(func())                    {}
func (noTest) Error(args ...any)                 { panic(fmt.Sprint(args...)) }
func (noTest) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (noTest) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (noTest) Failed() bool                      { return false }
func (noTest) Log(...any)                        {}
