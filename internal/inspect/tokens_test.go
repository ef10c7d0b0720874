package inspect_test

import (
	"encoding/base32"
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
		"q83vEjRWeJCrze8SNFZ4kA{\"by\":1}":                                      true,
		"q83vEjRWeJCrze8SNFZ4kA/orders/42":                                      true,
		"q83vEjRWeJCrze8SNFZ4kA-x":                                              false,
		"q83vEjRWeJCrze8SNFZ4kAx":                                               false, // another identifier
		"pi_3MtwBwLkdIwHu7ix28a3tqPa":                                           false,
		"2MqRhzDCnWyDnWiMLCwKQhHBGHe":                                           false, // KSUID
		"eyJuIjoiYWxpY2UiLCJzdWIiOjB9":                                          false, // JSON in base64
		"2jmj7l5rSw0yVb/vlWAYkK/YBwk=":                                          false, // 20 bytes
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

// By chance a token does not look random. Then a lock is not recognised.
func TestNearlyEveryRandomTokenIsRecognised(t *testing.T) {
	const tokens = 20_000
	random := rand.NewChaCha8([32]byte{})
	var b [21]byte
	for name, token := range map[string]func() string{
		"nanoid": func() string {
			for i := range b {
				b[i] = nanoIDLetters[b[i]%64]
			}
			return string(b[:])
		},
		"redislock": func() string { return base64.RawURLEncoding.EncodeToString(b[:16]) },
		"redsync":   func() string { return base64.StdEncoding.EncodeToString(b[:16]) },
		"base64":    func() string { return base64.RawStdEncoding.EncodeToString(b[:16]) },
		"URL":       func() string { return base64.URLEncoding.EncodeToString(b[:16]) },
		"xid": func() string {
			b[0], b[1] = 0x6a, 0xb2 // of a time in 2026
			return strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:12]))
		},
	} {
		missed := 0
		for range tokens {
			random.Read(b[:])
			if !inspect.IsToken(token()) {
				missed++
			}
		}
		if missed*1000 > tokens {
			t.Errorf("%s: %d of %d are missed", name, missed, tokens)
		}
	}
}

const nanoIDLetters = "useandom-26T198340PX75pxJACKVERYMINDBUSHWOLF_GQZbfghjklqvwyzrict"

// Names have the length of a nanoid, or begin with as many characters as a token of redislock has.
func TestANameIsNoToken(t *testing.T) {
	for _, name := range strings.Fields(`
		OrderServiceHandlerV2 PaymentWorkerNode2026 CustomerImportTask_42 MyOrderJobHandlerV2-1
		ShippingBatchJobRun17 InventorySync-v2-EU-1 InvoiceExport_2026_11 UserSession-Checkout1
		HttpRequestHandlerV12 OAuth2TokenRefresher1 Http2ServerConnection JsonToXmlConverter-V2
		Iso8601DateTimeParser Utf8StringEncoder2026 Sha256ChecksumBuilder S3BucketReplicatorEU1
		EC2InstanceTerminator K8sDeploymentWatcher2 PostgreSQL15Migration MySQL8BackupScheduler
		IPv6AddressAllocator2 X509CertificateRotate WebSocketV2Dispatcher Base64UrlTokenDecoder
		Order-42-is-Processed Wed-27-Nov-2026-18-30 Fri_27_Nov_2026_18_30 2026-11-27T18-30-00Zu
		Thread-12-Pool-3-Job7 Worker-17_Pool-3_Zone Node-A_Rack-12_Row-07 StateReadyForPickup_1
		ConcurrentSkipListMap AbstractMethodErrorV1 CronJob-Nightly-0300Z getUserByIdWithRoles2
		migrateSchemaV12ToV13 isProcessingPayment_1 lastSeenOrderNumber99 inProgressByWorker007
		BerlinWarehouseGate04 MuenchenLagerTor-2026 ParisEntrepotPorte-12 TokyoFulfilment_Dock9
		OrderServiceHandlerV2Processing Wed-27-Nov-2026-18-30-00-Worker 2026-11-27T18-30-00-OrderJob`) {
		if inspect.IsToken(name) {
			t.Errorf("%q is taken for a token", name)
		}
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
