package config

// Version is lockredis's own version, in semantic versioning. It is the one
// place: .ci/version reads this line for Maven, the archives and the images, so
// the line keeps its form. A version that is not released ends in -SNAPSHOT.
const Version = "0.3.0-SNAPSHOT"

// RedisVersion is the version of Redis that lockredis behaves like and that it
// reports to clients.
const RedisVersion = "7.0.15"

// The versions that a server with the directive emulate valkey-9.1 reports: its own, and
// the version of Redis that it is compatible with.
const (
	ValkeyVersion      = "9.1.2"
	valkeyRedisVersion = "7.2.4"
)

// emulateValkey is a value of the directive emulate.
const emulateValkey = "valkey-9.1"

// Valkey reports whether the server emulates Valkey.
func (c *Config) Valkey() bool { return c.Emulate == emulateValkey }

// EmulatedValkey returns the version of Valkey that the server emulates, "" if it
// emulates Redis.
func (c *Config) EmulatedValkey() string {
	if c.Valkey() {
		return ValkeyVersion
	}
	return ""
}

// ReportedVersion returns the version of Redis that the server reports to clients.
func (c *Config) ReportedVersion() string {
	if c.Valkey() {
		return valkeyRedisVersion
	}
	return RedisVersion
}
