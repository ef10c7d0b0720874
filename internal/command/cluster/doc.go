// Package cluster holds CLUSTER, ASKING, READONLY and READWRITE. The node and its slots are in
// internal/cluster. What a missing slot means for other commands is in internal/command, cluster.go.
package cluster
