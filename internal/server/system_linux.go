package server

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// systemName returns the name, release and machine of the system, as uname prints them.
var systemName = sync.OnceValue(func() string {
	var name syscall.Utsname
	if err := syscall.Uname(&name); err != nil {
		return "Linux"
	}
	return strings.Join([]string{
		fieldText(name.Sysname[:]), fieldText(name.Release[:]), fieldText(name.Machine[:]),
	}, " ")
})

// residentMemory returns the bytes of the process that are in memory, 0 if they are not known.
// /proc/self/statm has the number of pages as its second word.
func residentMemory() int64 {
	text, _ := os.ReadFile("/proc/self/statm")
	words := strings.Fields(string(text))
	if len(words) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(words[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// fieldText returns a field of Utsname. Its bytes are signed on some processors.
func fieldText[T int8 | uint8](field []T) string {
	var text []byte
	for _, b := range field {
		if b == 0 {
			break
		}
		text = append(text, byte(b))
	}
	return string(text)
}
