package inspect_test

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/inspect"
)

func TestATokenLooksRandom(t *testing.T) {
	for s, want := range map[string]bool{
		"q83vEjRWeJCrze8SNFZ4kA==":                                              true, // redsync
		"q83vEjRWeJCrze8SNFZ4kA":                                                true, // redislock
		"q83vEjRWeJCrze8SNFZ4kA metadata":                                       true,
		"6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11":                                  true,
		"00112233445566778899aabbccddeeff":                                      true,
		"^\xed\xb6pz!\x18\xaa\xca!\xea\x12\x849\xc5z\xfc\x1bK{\xe9\xea\x17\xb4": true, // rueidislock
		"01JD9Z3QK5V8W7E2M4N6P8R0ST":                                            true, // ULID
		"01jd9z3qk5v8w7e2m4n6p8r0st":                                            true,
		"01JD9Z3QK5V8W7E2M4N6P8R0SI":                                            false, // no I in base 32
		"01JD9Z3QK5V8W7E2M4N6P8R0S":                                             false,
		"00000000000000000000000017":                                            false,
		"9m4e2mr0ui3e8a215n4g":                                                  true, // xid
		"9m4e2mr0ui3e8a215n41":                                                  false,
		"processing20261orders":                                                 false,
		"processingorderslog":                                                   false,
		"da39a3ee5e6b4b0d3250":                                                  false, // hexadecimal
		"V1StGXR8_Z5jdHi6B-myT":                                                 true,  // nanoid
		"Order-42-is-Processed":                                                 false,
		"waiting-for-payment-1":                                                 false,
		"Processing-Order-Payment-42":                                           false,
		"gr\xfc\xdfe":                                                           false,
		"\xff" + strings.Repeat("data", 8):                                      false,
		"":                                                                      false,
		"1":                                                                     false,
		"1767225600000":                                                         false,
		"00112233445566778899aabbccddeef":                                       false,
		"bmTSRPptt832GXC5TMVylw==":                                              true,  // 16 bytes in base64
		"SGVsbG8sIFdvcmxkISBoZQ==":                                              false, // of "Hello, World! he"
		"q83vEjRWeJCrze8SNFZ4":                                                  false,
		"waiting-for-the-payment":                                               false,
		"ProcessingOrderPayment":                                                false,
		"{\"Customer\": \"Ann\", \"n\": 42}":                                    false,
		"worker-17.example.com:8080/2026":                                       false,
	} {
		if inspect.IsToken(s) != want {
			t.Errorf("%q: %v", s, !want)
		}
	}
}

// A random token does not look random in one of fifty cases. Then a lock is not recognised.
func TestNearlyEveryRandomTokenIsRecognised(t *testing.T) {
	var b [16]byte
	missed, random := 0, rand.NewChaCha8([32]byte{})
	for range 1000 {
		random.Read(b[:])
		if !inspect.IsToken(base64.StdEncoding.EncodeToString(b[:])) {
			missed++
		}
		if !inspect.IsToken(base64.RawURLEncoding.EncodeToString(b[:])) {
			missed++
		}
	}
	if missed > 40 {
		t.Errorf("%d of 2000 are missed", missed)
	}
}

func TestAProcessIsKnownByItsHostAndID(t *testing.T) {
	for value, want := range map[string]bool{
		"web-1.example.com:4711":      true,
		"web-1:4711":                  true,
		"web-1-4711":                  true,
		"4711":                        false,
		"web-1:47110":                 false,
		"web-1":                       false,
		"web-1:":                      false,
		"web-10:4711":                 false,
		"web-1:4711:thread 8":         true,
		"other:4711":                  false,
		"web-1.example.com:8080/4711": false,
	} {
		if (inspect.Process{Host: "web-1.example.com", PID: "4711"}).Wrote(value) != want {
			t.Errorf("%q: %v", value, !want)
		}
	}
	if (inspect.Process{PID: "4711"}).Wrote(":4711") {
		t.Error("a process without a host is recognised")
	}
}
