// Package awake keeps the CPUs from sleeping while something is measured.
//
// Waking a CPU that has gone to sleep takes longer than the command it is woken
// for, above all in a virtual machine, and whether one sleeps is chance: the same
// pair takes 30 µs or 170. So each CPU is kept awake by a process that runs only
// when nothing else wants to. Other systems than Linux have no such priority, and
// nothing is done there. Only the benches call it.
package awake
