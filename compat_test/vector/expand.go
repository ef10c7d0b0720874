package vector

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// parse divides command lines into words and expands their macros.
func (r *Runner) parse(commands []string) ([][]string, error) {
	var out [][]string
	for _, line := range commands {
		words, err := wire.Split(line)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		if len(words) == 0 {
			return nil, fmt.Errorf("a line without a command")
		}
		var expanded []string
		for _, w := range words {
			more, err := r.expand(w)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
			expanded = append(expanded, more...)
		}
		out = append(out, expanded)
	}
	return out, nil
}

// expand returns the words that a macro stands for. Any other word it returns unchanged.
func (r *Runner) expand(word string) ([]string, error) {
	name, rest, ok := strings.Cut(word, ":")
	if !ok || !strings.HasPrefix(name, "{") || !strings.HasSuffix(rest, "}") {
		return []string{word}, nil
	}
	rest = strings.TrimSuffix(rest, "}")
	switch name {
	case "{seq":
		return sequence(rest, 1)
	case "{pairs":
		return sequence(rest, 2)
	case "{rep":
		text, times, _ := strings.Cut(rest, "*")
		n, err := strconv.Atoi(times)
		return []string{strings.Repeat(text, max(n, 0))}, err
	case "{sha1":
		sum := sha1.Sum([]byte(rest))
		return []string{hex.EncodeToString(sum[:])}, nil
	case "{id":
		c, err := r.client(rest, 2)
		if err != nil {
			return nil, err
		}
		return []string{c.id}, nil
	case "{addr":
		c, err := r.client(rest, 2)
		if err != nil {
			return nil, err
		}
		return []string{c.conn.LocalAddr()}, nil
	}
	return []string{word}, nil
}

// sequence returns the numbers of "prefix:from:to" or "from:to". With times 2 each number
// comes twice: alone, then with the prefix.
func sequence(spec string, times int) ([]string, error) {
	parts := strings.Split(spec, ":")
	prefix := ""
	if len(parts) == 3 {
		prefix, parts = parts[0], parts[1:]
	}
	if len(parts) != 2 {
		return nil, fmt.Errorf("want from:to, not %q", spec)
	}
	from, err := strconv.Atoi(parts[0])
	if err != nil {
		return nil, err
	}
	to, err := strconv.Atoi(parts[1])
	if err != nil {
		return nil, err
	}
	var out []string
	for i := from; i <= to; i++ {
		for k := range times {
			if k == 0 && times == 2 || prefix == "" {
				out = append(out, strconv.Itoa(i))
				continue
			}
			out = append(out, prefix+strconv.Itoa(i))
		}
	}
	return out, nil
}
