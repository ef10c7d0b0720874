package faults

import (
	"context"
	"errors"
	"regexp"
)

func errorKind(err error) string {
	for _, known := range []error{errTimeout, errLost, errNotHeld, errClosed, context.Canceled,
		context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return addresses.ReplaceAllString(err.Error(), "…")
}

var addresses = regexp.MustCompile(`[0-9.]+:[0-9]+(->[0-9.]+:[0-9]+)?`)
