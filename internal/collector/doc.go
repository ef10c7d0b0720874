// Package collector is what lockredis knows of Go's garbage collector, and does about it.
//
//	            /memory/classes/heap, /gc/heap/live               After
//	Go's  -----------------------------------------> Size, Live ---------+
//	collector                                            |                |
//	   ^                                                 v                v
//	   |  runtime.GC            luaexec: ends a script that takes too much memory
//	   |  SetMemoryLimit        Limit: collects before the process takes far more than maxmemory
//	   |  FreeOSMemory          GiveBack: returns memory to the system after a load
//	   |  FreeOSMemory          server: MEMORY PURGE
//	   +----------------------- INFO: shows the figures
//
// Only the program starts Limit and GiveBack: they act on the whole process, and a library must
// not do so. What maxmemory is compared with is counted, and does not come from here.
package collector
