package engine

import (
	"slices"
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// maxErrorClasses is how many classes of errors are counted. The limit is needed because
// a script can return errors of any class.
const maxErrorClasses = 128

// maxClassLength is how many bytes of an error Redis searches for the end of its class.
const maxClassLength = 31

// errorCounts keeps INFO errorstats: a counter for each class.
type errorCounts struct{ stats *command.Stats }

// count counts an error of the given text.
func (n *errorCounts) count(text string) {
	class := "ERR"
	if i := strings.IndexAny(text[:min(maxClassLength, len(text))], " \r\n"); i >= 0 {
		class = text[:i]
	}
	if _, known := n.stats.Errors[class]; known || len(n.stats.Errors) < maxErrorClasses {
		n.stats.Errors[strings.Clone(class)]++
	}
}

// CountError counts an error reply that no command has made. It is called inside Do.
func (e *Engine) CountError(text string) { e.errors.count(text) }

// scriptErrors are the errors that commands have returned to the running script. They
// are counted already. If the script returns one of them, it is not counted again. Only
// the last maxScriptErrors are kept.
type scriptErrors struct{ texts []string }

const maxScriptErrors = 16

func (f *scriptErrors) clear() { f.texts = nil }

func (f *scriptErrors) add(text string) {
	if slices.Contains(f.texts, text) {
		return
	}
	if len(f.texts) == maxScriptErrors {
		f.texts = slices.Delete(f.texts, 0, 1)
	}
	f.texts = append(f.texts, strings.Clone(text))
}

// has reports whether an error in the script's reply came from a command. If the error
// ended the script, its text also names the script's line.
func (f *scriptErrors) has(text string) bool {
	return slices.ContainsFunc(f.texts, func(known string) bool {
		rest, found := strings.CutPrefix(text, known)
		return found && (rest == "" || strings.HasPrefix(rest, " script: "))
	})
}

// countNew counts the errors in the script's reply that the script has made itself, at any
// depth, for INFO errorstats. known is how many errors came from commands.
func (r *scriptRun) countNew(reply resp.Reply) (made bool, known int64) {
	if reply.IsError() {
		if r.errors.has(reply.Text()) {
			known = 1
		} else {
			r.e.errors.count(reply.Text())
			made = true
		}
	}
	for _, elem := range reply.Elems() {
		m, k := r.countNew(elem)
		made, known = made || m, known+k
	}
	return made, known
}
