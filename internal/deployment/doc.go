// Package deployment is the primary, the replicas and the Sentinels that run in one process, as the
// operator of a deployment sees them: which node leads, a failover on request, and the faults of links
// between nodes.
//
//	deployment.go  Deployment: its nodes, how replicas begin to follow, which node leads
//	failover.go    a failover that a test asks for
//	links.go       Links: the connections between nodes, cut and healed
//
// Nothing here depends on chance or on time: before a failover, or the end of a primary, each replica
// has got what its link lets through. What a link does not let through is decided when it is written.
//
// internal/program and lockredistest make a Deployment of the servers that they start.
package deployment
