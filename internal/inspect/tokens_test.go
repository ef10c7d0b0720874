package inspect

import (
	"crypto/rand"
	"encoding/base64"
	"strings"
	"testing"
)

func TestATokenLooksRandom(t *testing.T) {
	for s, want := range map[string]bool{
		"q83vEjRWeJCrze8SNFZ4kA==":                                              true, // redsync
		"q83vEjRWeJCrze8SNFZ4kA":                                                true, // redislock
		"q83vEjRWeJCrze8SNFZ4kA metadata":                                       true,
		"6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11":                                  true,
		"00112233445566778899aabbccddeeff":                                      true,
		"^\xed\xb6pz!\x18\xaa\xca!\xea\x12\x849\xc5z\xfc\x1bK{\xe9\xea\x17\xb4": true, // rueidislock
		"gr\xfc\xdfe":                        false,
		"\xff" + strings.Repeat("data", 8):   false,
		"":                                   false,
		"1":                                  false,
		"1767225600000":                      false,
		"00112233445566778899aabbccddeef":    false,
		"q83vEjRWeJCrze8SNFZ4":               false,
		"waiting-for-the-payment":            false,
		"ProcessingOrderPayment":             false,
		"{\"Customer\": \"Ann\", \"n\": 42}": false,
		"worker-17.example.com:8080/2026":    false,
	} {
		if IsToken(s) != want {
			t.Errorf("%q: %v", s, !want)
		}
	}
}

// A random token has no digit or sign in one of a hundred cases; then a lock is not recognised.
func TestNearlyEveryRandomTokenIsRecognised(t *testing.T) {
	var b [16]byte
	missed := 0
	for range 1000 {
		rand.Read(b[:])
		if !IsToken(base64.StdEncoding.EncodeToString(b[:])) {
			missed++
		}
		if !IsToken(base64.RawURLEncoding.EncodeToString(b[:])) {
			missed++
		}
	}
	if missed > 60 {
		t.Errorf("%d of 2000 are missed", missed)
	}
}
