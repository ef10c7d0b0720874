package sentinel

import "strconv"

// leadingInt returns the number at the beginning of text, as C's atoi does: 0 if there is none.
func leadingInt(text string) int {
	n, _ := strconv.Atoi(leadingDigits(text))
	return n
}

// leadingUint is leadingInt for epochs and offsets.
func leadingUint(text string) uint64 {
	n, _ := strconv.ParseUint(leadingDigits(text), 10, 64)
	return n
}

func leadingDigits(text string) string {
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || end == 0 && text[end] == '-') {
		end++
	}
	return text[:end]
}
