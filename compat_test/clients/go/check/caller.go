package check

import (
	"fmt"
	"path/filepath"
	"runtime"
)

// caller returns the place of the check that called a method of T: the first frame that
// is not in this package.
func caller() string {
	_, here, _, _ := runtime.Caller(0)
	for depth := 1; ; depth++ {
		_, file, line, ok := runtime.Caller(depth)
		if !ok {
			return "?"
		}
		if filepath.Dir(file) != filepath.Dir(here) {
			return fmt.Sprintf("%s:%d", filepath.Base(file), line)
		}
	}
}
