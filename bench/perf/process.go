//go:build linux

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// binary measures the start and the size of the executable.
func binary(b *bench) error {
	pong, err := alternate(b.servers, pick(b.short, 7, 21), func(name string) (figures, error) {
		s, err := b.launch(name)
		if err != nil {
			return nil, err
		}
		defer s.stop()
		if s.control, err = s.waitForPong(); err != nil {
			return nil, err
		}
		return figures{"pong": float64(time.Since(s.process.Started)) / float64(time.Millisecond)}, nil
	})
	if err != nil {
		return err
	}
	b.add("start to first PONG", "ms", pong["pong"], ratioAtMost(1.0, 0.6))
	sizes := map[string][]float64{}
	for _, name := range b.servers {
		program, err := b.program(name)
		if err != nil {
			return err
		}
		info, err := os.Stat(program)
		if err != nil {
			return err
		}
		sizes[name] = []float64{float64(info.Size()) / 1e6}
	}
	b.add("size of the executable", "MB", sizes, valueAtMost(15, 10))
	return nil
}

// idle starts all servers at the same time and measures them without clients.
func idle(b *bench) error {
	span := pick(b.short, 5*time.Second, time.Minute)
	used, resident := map[string][]float64{}, map[string][]float64{}
	var all []*server
	for _, name := range b.servers {
		s, err := b.start(name)
		if err != nil {
			return err
		}
		defer s.stop()
		all = append(all, s)
	}
	time.Sleep(time.Second) // the servers finish their start
	before := map[string]time.Duration{}
	for _, s := range all {
		cpu, err := s.cpu()
		if err != nil {
			return err
		}
		before[s.name] = cpu
	}
	time.Sleep(span)
	for _, s := range all {
		cpu, err := s.cpu()
		if err != nil {
			return err
		}
		rss, err := s.residentAfter(0)
		if err != nil {
			return err
		}
		used[s.name] = []float64{100 * float64(cpu-before[s.name]) / float64(span)}
		resident[s.name] = []float64{rss / 1e6}
	}
	b.add(fmt.Sprintf("idle for %v: CPU", span), "% of one", used, valueAtMost(zeroCPU, zeroCPU))
	b.add("idle: resident memory", "MB", resident, valueAtMost(16, 12))
	return nil
}

// zeroCPU counts as 0: one tick of 10 ms in a minute.
const zeroCPU = 0.02

// cpu returns the CPU time of all threads of the process.
func (s *server) cpu() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.process.PID))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the process name before it may have blanks
	fields := strings.Fields(rest)
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond, err
}

// residentAfter returns the resident memory in bytes, after a pause.
func (s *server) residentAfter(pause time.Duration) (float64, error) {
	time.Sleep(pause)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.PID))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if kb, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(kb), " kB"), 64)
			return n * 1024, err
		}
	}
	return 0, fmt.Errorf("process %d has no VmRSS", s.process.PID)
}
