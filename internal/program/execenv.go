package program

import (
	"cmp"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/lockredis/lockredis/internal/config"
)

// redisVariables are the variables that environment sets or removes. A variable that the command's
// user has for another server must not lead the command there.
var redisVariables = withSpring("URL", "TLS_URL", "HOST", "PORT", "USERNAME", "PASSWORD", "CLUSTER_NODES",
	"SENTINEL_NODES", "SENTINEL_MASTER", "SENTINEL_USERNAME", "SENTINEL_PASSWORD", "PRIMARIES", "REPLICAS", "SSL", "SSL_ENABLED")

// prefixes are those of the variables that Redis clients, Spring Boot 3 and Spring Boot 2 read.
var prefixes = []string{"REDIS_", "SPRING_DATA_REDIS_", "SPRING_REDIS_"}

func withSpring(names ...string) (all []string) {
	for _, name := range names {
		for _, prefix := range prefixes {
			all = append(all, prefix+name)
		}
	}
	return append(all, "REDISCLI_AUTH")
}

// environment returns inherited with the addresses of the nodes, "NAME=value".
func (n *nodes) environment(set *config.Config, inherited []string) []string {
	env := slices.DeleteFunc(slices.Clone(inherited), func(line string) bool {
		name, _, _ := strings.Cut(line, "=")
		return slices.Contains(redisVariables, name)
	})
	add := func(name, value string) {
		if value != "" {
			env = append(env, name+"="+value)
		}
	}
	spring := func(name, value string) {
		for _, prefix := range prefixes {
			add(prefix+name, value)
		}
	}
	host := cmp.Or(n.host, reachableHost(set))
	port, tlsPort := n.ports()
	scheme := "redis"
	switch tlsPort {
	case "":
	case port: // the only one
		scheme = "rediss"
	default:
		add("REDIS_TLS_URL", urlOf("rediss", host, tlsPort, set.RequirePass))
	}
	spring("URL", urlOf(scheme, host, port, set.RequirePass))
	spring("HOST", host)
	spring("PORT", port)
	spring("PASSWORD", set.RequirePass)
	add("REDISCLI_AUTH", set.RequirePass)
	ssl := "false" // over the application's own value
	if scheme == "rediss" {
		ssl = "true"
	}
	add("SPRING_DATA_REDIS_SSL_ENABLED", ssl)
	add("SPRING_REDIS_SSL", ssl)
	t := set.Topology
	add("REDIS_REPLICAS", n.list("replica"))
	switch {
	case t.Cluster > 0:
		spring("CLUSTER_NODES", n.list("node"))
	case t.Primaries > 0:
		add("REDIS_PRIMARIES", n.list("primary"))
	case t.Sentinels > 0:
		spring("SENTINEL_NODES", n.list("sentinel"))
		spring("SENTINEL_MASTER", t.Name)
		spring("SENTINEL_PASSWORD", t.Password)
	}
	return env
}

// list returns the addresses of the nodes of a kind: "127.0.0.1:7000,127.0.0.1:7001".
func (n *nodes) list(kind string) string {
	var addrs []string
	for _, line := range n.lines() {
		if addr, ok := strings.CutPrefix(line, kind+"="); ok {
			addrs = append(addrs, addr)
		}
	}
	return strings.Join(addrs, ",")
}

// urlOf returns the URL of a server. A password of "" is none.
func urlOf(scheme, host, port, password string) string {
	u := url.URL{Scheme: scheme, Host: net.JoinHostPort(host, port)}
	if password != "" {
		u.User = url.UserPassword("", password)
	}
	return u.String()
}
