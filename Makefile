.DEFAULT_GOAL := help

build: ## build the static binary bin/lockredis
	CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o bin/lockredis ./cmd/lockredis

test: ## run every test that this machine has the tools for; names those it skips
	.ci/test

race: ## run the Go tests with the race detector
	go test -race -timeout 20m ./...

matrix: ## run all ten Redisson releases on lockredis and on redis-server (needs JDK 17, Maven, redis-server)
	LOCKREDIS_REDISSON=all LOCKREDIS_SERVERS=lockredis,redis-server go test ./compat_test -run TestRedisson -count=1 -v -timeout 90m

vectors: ## record the replies in compat_test/testdata again from redis-server 7.0.15
	LOCKREDIS_VECTORS=record go test ./compat_test -run TestVectors -count=1 -rewrite

diff: ## compare lockredis with redis-server on a million generated commands
	LOCKREDIS_DIFF_COMMANDS=1000000 go test ./compat_test/differential -run Generated -count=1 -v -timeout 60m

soak: ## run mixed load and attacks for 30 minutes on a server built with the race detector
	LOCKREDIS_SOAK=30m go test ./compat_test/soak -count=1 -v -timeout 60m

fuzz: ## run every fuzz target for 20 seconds
	.ci/fuzz 20s

simulate: ## run lock clients for ten million steps of virtual time
	LOCKREDIS_SIMULATION=10000000 go test ./compat_test/simulation -run TestTheInvariantsHold -count=1 -v -timeout 60m

bench-rlock: ## measure rlock and other Go lock libraries; writes docs/bench-rlock.md
	cd bench/rlock && go run .

bench: ## measure lockredis, redis-server, Valkey and miniredis; writes the table of docs/performance.md
	cd bench/perf && go run .

bench-short: ## run the bench for 90 seconds; writes nothing
	cd bench/perf && go run . -short

bench-compare: ## measure the working tree and another commit: make bench-compare BASE=HEAD~1
	cd bench/perf && go run . -base "$${BASE:?must be a commit}"

docs: ## write docs/commands.md and docs/directives.md from their tables
	go test ./internal/command ./internal/config -count=1 -run Docs -update

lint: ## run go vet and staticcheck
	go vet ./...
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

cross: ## build for every platform
	for os in linux darwin windows; do for arch in amd64 arm64; do \
	  echo $$os/$$arch; CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch go build -o /dev/null ./cmd/lockredis || exit 1; done; done

help: ## print this text
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

.PHONY: build test race matrix vectors diff bench bench-short bench-compare bench-rlock lint cross docs help soak fuzz simulate
