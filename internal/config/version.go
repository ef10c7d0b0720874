package config

// Version is lockredis's own version, in semantic versioning. It is the one
// place: .ci/version reads this line for Maven, the archives and the images, so
// the line keeps its form. A version that is not released ends in -SNAPSHOT.
const Version = "0.3.0-SNAPSHOT"

// RedisVersion is the version of Redis that lockredis behaves like and that it
// reports to clients.
const RedisVersion = "7.0.15"
