package command

import (
	"fmt"
	"strings"

	"github.com/lockredis/lockredis/resp"
)

// MEMORY DOCTOR looks for the same problems as Redis's, with the same bounds. Go lets the heap
// grow to a goal before it collects garbage. A heap below its goal is no problem: so the doctor
// takes the memory up to the goal to be in use.
const (
	doctorLeast    = 5 << 20   // bytes in use; with less, ratios tell nothing
	doctorExcess   = 10 << 20  // bytes; less excess memory is no problem
	doctorClient   = 200 << 10 // bytes of a client, on average
	doctorScripts  = 1000
	doctorPeak     = 1.5 // times the memory in use
	doctorResident = 1.4
	doctorPart     = 1.1
)

func memoryDoctor(c *Ctx, _ resp.Args) resp.Reply {
	m := readMemory(c)
	found := c.memoryProblems(m)
	switch {
	case len(found) > 0:
		return resp.Verbatim("Problems with the memory of this server:\n\n * " +
			strings.Join(found, "\n * ") + "\n")
	case m.total < doctorLeast:
		return resp.Verbatim(fmt.Sprintf("This server is empty or uses little memory: %s are in use. "+
			"There is too little data to look for problems.\n", human(m.total)))
	}
	return resp.Verbatim(fmt.Sprintf("No problem with the memory of this server was found: "+
		"%s are in use.\n", human(m.total)))
}

// memoryProblems returns what MEMORY DOCTOR finds.
func (c *Ctx) memoryProblems(m *memoryFigures) (found []string) {
	report := func(when bool, format string, args ...any) {
		if when {
			found = append(found, fmt.Sprintf(format, args...))
		}
	}
	limit := c.Config.MaxMemory
	report(limit > 0 && m.total > limit/10*9, "Near maxmemory: %s of %s are in use. %s",
		human(m.total), human(limit), atMaxMemory(c.Config.Eviction.Policy))
	if m.total < doctorLeast {
		return found
	}
	spare := max(m.Goal-m.Heap, 0)
	report(float64(m.peak) > doctorPeak*float64(m.total+spare),
		"Peak: up to %s were in use, now it is %s. The process may still hold the difference: "+
			"MEMORY PURGE gives its free pages back to the system.", human(m.peak), human(m.total))
	grave := func(e excess, bound float64) bool { return e.ratio > bound && e.bytes > doctorExcess }
	all, unused := excessOf(m.Process, m.total+spare), m.unused()
	kept, outside := excessOf(m.Resident, m.Active+spare), m.outside()
	report(grave(all, doctorResident), "Fragmentation: the process has %s of memory, and %s are in use.",
		human(m.Process), human(m.total))
	report(grave(unused, doctorPart), "Fragmentation of the heap: %s are free between its objects. "+
		"New objects of the same sizes will take them.", human(unused.bytes))
	report(grave(kept, doctorPart), "Free memory: the allocator keeps %s. MEMORY PURGE gives them "+
		"back to the system.", human(kept.bytes))
	report(grave(outside, doctorPart), "Memory outside of Go: the process has %s more than Go knows of.",
		human(outside.bytes))
	clients := int64(max(c.Clients.Open(), 1))
	report(m.clients/clients > doctorClient, "Large buffers: the clients have %s on average. Look for "+
		"large omem and tot-mem in CLIENT LIST.", human(m.clients/clients))
	report(c.Scripts.Len() > doctorScripts, "Many scripts: %d are cached. Send EVAL the values as "+
		"arguments, and not as a part of the script.", c.Scripts.Len())
	return found
}

// atMaxMemory says what happens at maxmemory.
func atMaxMemory(policy string) string {
	if policy == "noeviction" {
		return "Commands that add data will soon be refused: the policy is noeviction."
	}
	return "Keys are evicted by the policy " + policy + "."
}
