.DEFAULT_GOAL := help

build: ## build the static binary bin/lockredis
	CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o bin/lockredis ./cmd/lockredis

binaries: ## build the static binary of every platform: bin/OS-ARCH/lockredis
	.ci/build-binaries bin

dist: ## pack the release into dist/: archives for six platforms, checksums, bill of materials, formula
	.ci/dist dist

image: ## write the container image into dist/image: archives for docker load, an OCI layout
	.ci/image dist/image

check: ## run every test that this machine has the tools for; ends with a table. STEPS="lint go" runs some
	.ci/check $(STEPS)

# Two kinds of packages are left out. The simulation, the Lua libraries and the store have no goroutines.
# The survey runs the program lockredis, built without the detector, in a process of its own.
race: ## run the Go tests with the race detector
	go test -race -timeout 20m $$(go list ./... | grep -vE '/compat_test/(rlock|simulation|survey)|/luaexec/(lualib|syntax)|/store$$')
	go test -race -timeout 20m -p 1 ./compat_test/rlock/... # alone: its checks have limits of time
	cd examples/orders && go test -race ./...

matrix: ## run all ten Redisson releases on lockredis and on redis-server (needs JDK 17, Maven, redis-server)
	LOCKREDIS_REDISSON=all LOCKREDIS_SERVERS=lockredis,redis-server go test ./compat_test -run TestRedisson -count=1 -v -timeout 90m

clients: ## run unmodified clients of all languages on lockredis and on redis-server; writes the table of docs/clients.md
	LOCKREDIS_CLIENTS=all go test ./compat_test/clients -run TestUnmodified -count=1 -v -timeout 90m -update

spring-matrix: ## run the Java modules for Spring Boot with all tested releases of Boot and Redisson's starter
	.ci/spring-matrix

frameworks: ## run the Java examples for Micronaut, Quarkus, Spock and Kotest: they download 200 MB
	.ci/examples-java micronaut quarkus spock kotest

vectors: ## record the replies in compat_test/testdata and compat_test/sentinel again from Redis 7.0.15
	LOCKREDIS_VECTORS=record go test ./compat_test -run TestVectors -count=1 -rewrite
	LOCKREDIS_VECTORS=record go test ./compat_test/sentinel -run TestScenarios -count=1 -rewrite

redis-tests: ## run Redis's own tests of replication on lockredis: make redis-tests SRC=redis-7.0.15, an unpacked source
	.ci/redis-tests "$${SRC:?must be the folder of an unpacked source of Redis 7.0.15}" $(TESTS)

sentinel-tests: ## run Redis's own tests of Sentinel: make sentinel-tests SRC=redis-7.0.15; SERVERS=redis or SENTINELS=redis
	.ci/sentinel-tests "$${SRC:?must be the folder of an unpacked source of Redis 7.0.15}" $(or $(SERVERS),lockredis) $(or $(SENTINELS),lockredis)

diff: ## compare lockredis with redis-server on a million generated commands, with Valkey on 250,000
	LOCKREDIS_DIFF_COMMANDS=1000000 go test ./compat_test/differential -run Generated -count=1 -v -timeout 60m

soak: ## run mixed load and attacks for 30 minutes on a server built with the race detector
	LOCKREDIS_SOAK=30m go test ./compat_test/soak -count=1 -v -timeout 60m

fuzz: ## run every fuzz target for 20 seconds
	.ci/fuzz 20s

failovers: ## kill the primary 50 times under Sentinels, in the three mixes that have lockredis; prints how long it took
	LOCKREDIS_FAILOVERS=50 go test ./compat_test/sentinel -run TestEveryFailover -count=1 -v -timeout 60m

faults: ## run rlock through 10,000 acquisitions of each kind on each topology with faults; prints a table
	LOCKREDIS_RLOCK=single,sentinel,cluster,valkey LOCKREDIS_FAULTS=10000 go test ./compat_test/rlock/faults -run "TestNoHold|TestNoRequest" -count=1 -v -timeout 6h

simulate: ## run lock clients for ten million steps of virtual time
	LOCKREDIS_SIMULATION=10000000 go test ./compat_test/simulation -run TestTheInvariantsHold -count=1 -v -timeout 60m

bench-replica: ## measure what a replica costs its primary; takes a minute
	cd bench/perf && go run . -replica

bench-rlock: ## measure rlock and other Go lock libraries; writes docs/bench-rlock.md
	cd bench/rlock && go run .

bench: ## measure lockredis, redis-server, Valkey and miniredis; writes the table of docs/performance.md
	cd bench/perf && go run .

bench-short: ## run the bench for 90 seconds; writes nothing
	cd bench/perf && go run . -short

bench-compare: ## measure the working tree and another commit: make bench-compare BASE=HEAD~1
	cd bench/perf && go run . -base "$${BASE:?must be a commit}"

road: ## count the functions that a PING and a lock script's EVALSHA enter
	go run ./bench/road

docs: ## write docs/commands.md and docs/directives.md from their tables
	go test ./internal/command/commands ./internal/config -count=1 -run Docs -update

command-docs: ## write what COMMAND DOCS replies from redis-server 7.0.15
	go test ./compat_test/survey -count=1 -run CommandDocsAreTaken -update -timeout 2m

lint: ## run go vet and staticcheck, build for 32 bits, and actionlint on the workflows
	go vet ./...
	GOARCH=386 go build ./cmd/lockredis ./rlock # an int has 32 bits there
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...
	cd packaging && go vet ./... && go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...
	cd examples/orders && go vet ./... && go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...
	go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
	go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 examples/ci/github.yaml

help: ## print this text
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

.PHONY: build binaries dist image clients spring-matrix frameworks check race matrix vectors diff bench bench-short bench-compare bench-replica bench-rlock road lint docs command-docs help soak fuzz simulate failovers faults redis-tests sentinel-tests
