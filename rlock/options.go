package rlock

import (
	"fmt"
	"time"
)

// Option changes one Acquire or Do.
type Option func(*settings)

// settings are the options of one acquisition.
type settings struct {
	wait    time.Duration // forever: no limit; 0: a single try
	lease   time.Duration // 0: watched
	noLease bool          // permits only

	retryFor time.Duration // 0: Options.RetryFor
	unsynced bool          // do not wait for replicas
	err      error
}

// forever, as settings.wait, means no limit.
const forever time.Duration = -1

// Wait limits how long the acquisition waits. It then fails with ErrTimeout. Less than
// 1 ms means a single try, as in Redisson: it waits for the server's answer, at most a second, and
// without one it returns that error. A try is also made when d is over before it, because the
// process did not run: it waits for the answer as long again, from 0.1 s to 1 s. Without this
// option an acquisition waits until its context ends. Unlike a deadline of the context, it does
// not limit the work that is done under the lock.
func Wait(d time.Duration) Option {
	return func(s *settings) {
		if s.wait = d; d < time.Millisecond {
			s.wait = 0
		}
	}
}

// Lease makes the lease end d after the acquisition, without renewal. The lock is
// then lost unless it was released before. d is truncated to milliseconds, and is at most
// 100 years; 1 ms counts as 2. Less, such as the rest of a deadline that has passed, is an error. Without
// this option the watchdog renews a lease of Options.Lease until the release.
func Lease(d time.Duration) Option {
	return func(s *settings) {
		if s.lease, s.noLease = wholeLease(d), false; s.lease < time.Millisecond {
			s.err = fmt.Errorf("lease %v is shorter than 1ms", d)
		}
	}
}

// NoLease makes permits stay acquired until they are released, as Redisson does
// without a lease time. A crash of the process then costs the permits, for ever. It
// is an error for a lock.
func NoLease() Option {
	return func(s *settings) { s.lease, s.noLease = 0, true }
}

func settingsOf(op, name string, options []Option) (settings, error) {
	if len(options) == 0 {
		return settings{wait: forever}, nil
	}
	s := settings{wait: forever}
	for _, o := range options {
		if o != nil {
			o(&s)
		}
		if s.err != nil {
			return s, fmt.Errorf("rlock: %s %q: %w", op, name, s.err)
		}
	}
	return s, nil
}

// waitSettings is settingsOf for an operation whose only option is Wait.
func waitSettings(op, name string, options []Option) (settings, error) {
	s, err := settingsOf(op, name, options)
	if err == nil && (s.lease != 0 || s.noLease) {
		err = fmt.Errorf("rlock: %s %q: the only option here is Wait", op, name)
	}
	return s, err
}

// permitSettings is waitSettings for the acquisition of n permits.
func permitSettings(name string, n int, options []Option) (settings, error) {
	s, err := waitSettings("acquire permits of", name, options)
	if err == nil {
		err = checkCount("acquire permits of", name, n, 1)
	}
	return s, err
}

// lockSettings is settingsOf for the acquisition of a lock.
func lockSettings(name string, options []Option) (settings, error) {
	s, err := settingsOf("acquire", name, options)
	if err == nil && s.noLease {
		err = fmt.Errorf("rlock: acquire %q: a lock cannot be without a lease", name)
	}
	return s, err
}

// tryLimit is how long a try is sent again without an answer. An acquisition that must
// not wait gives up sooner.
func (s *settings) tryLimit(o Options) time.Duration {
	limit := o.RetryFor
	if s.retryFor > 0 {
		limit = s.retryFor
	}
	if s.wait == 0 {
		limit = min(limit, singleTry)
	}
	return limit
}

// singleTry is how long an acquisition that does not wait waits for the server's answer.
const singleTry = time.Second

// watched reports whether the watchdog renews the lease.
func (s *settings) watched() bool { return s.lease == 0 && !s.noLease }
