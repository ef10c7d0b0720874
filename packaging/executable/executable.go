// Package executable checks that a file is an executable for a platform.
package executable

import (
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
	"fmt"
	"strings"
)

// Check returns an error unless file is an executable for platform, such as linux-amd64.
// On Linux it must be static, on macOS with arm64 it must have a signature.
func Check(file, platform string) error {
	system, arch, _ := strings.Cut(platform, "-")
	check := map[string]func(file, arch string) error{
		"linux": checkELF, "darwin": checkMachO, "windows": checkPE,
	}[system]
	if err := check(file, arch); err != nil {
		return fmt.Errorf("%s is no executable for %s: %w", file, platform, err)
	}
	return nil
}

func checkELF(path, arch string) error {
	file, err := elf.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	for _, part := range file.Progs {
		if part.Type == elf.PT_INTERP || part.Type == elf.PT_DYNAMIC {
			return errors.New("it is not static")
		}
	}
	want := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[arch]
	return same(file.Machine, want)
}

func checkMachO(path, arch string) error {
	file, err := macho.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	// macOS kills an executable for arm64 that has no signature. Go's linker signs it.
	const codeSignature = 0x1d
	signed := false
	for _, load := range file.Loads {
		raw := load.Raw()
		signed = signed || len(raw) >= 4 && file.ByteOrder.Uint32(raw) == codeSignature
	}
	if arch == "arm64" && !signed {
		return errors.New("it has no signature")
	}
	want := map[string]macho.Cpu{"amd64": macho.CpuAmd64, "arm64": macho.CpuArm64}[arch]
	return same(file.Cpu, want)
}

func checkPE(path, arch string) error {
	file, err := pe.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	want := map[string]uint16{"amd64": pe.IMAGE_FILE_MACHINE_AMD64,
		"arm64": pe.IMAGE_FILE_MACHINE_ARM64}[arch]
	return same(file.Machine, want)
}

func same[T comparable](got, want T) error {
	if got != want {
		return fmt.Errorf("it is for machine %v instead of %v", got, want)
	}
	return nil
}
