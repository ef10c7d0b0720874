// Package awake keeps the CPUs from sleeping during a measurement.
//
// Waking a sleeping CPU takes longer than the command that needs it, above all in a
// virtual machine. Whether a CPU sleeps is chance: the same pair of commands takes 30 µs
// or 170 µs. So a process for each CPU keeps it awake. The process runs only when no
// other process wants the CPU. Systems other than Linux have no such priority, and the
// package does nothing there. Only the benches call it.
package awake
