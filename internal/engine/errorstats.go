package engine

import (
	"slices"
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// errorClasses is how many classes of errors are counted: scripts can make up
// any number of them.
const errorClasses = 128

// classLength is where Redis gives up looking for the end of a class, in bytes.
const classLength = 31

// countError keeps INFO errorstats: a counter for each class.
func (e *Engine) countError(text string) {
	class := "ERR"
	if i := strings.IndexAny(text[:min(classLength, len(text))], " \r\n"); i >= 0 {
		class = text[:i]
	}
	if _, known := e.env.Stats.Errors[class]; known || len(e.env.Stats.Errors) < errorClasses {
		e.env.Stats.Errors[strings.Clone(class)]++
	}
}

// failures are the errors that commands gave to the running script: they are
// counted, and it may answer with them. Only the last few are remembered.
type failures struct{ texts []string }

const failuresKept = 16

func (f *failures) forget() { f.texts = nil }

func (f *failures) add(text string) {
	if slices.Contains(f.texts, text) {
		return
	}
	if len(f.texts) == failuresKept {
		f.texts = slices.Delete(f.texts, 0, 1)
	}
	f.texts = append(f.texts, strings.Clone(text))
}

// has reports whether an error of the script's reply is one of a command: an
// error that ended the script says where it did.
func (f *failures) has(text string) bool {
	return slices.ContainsFunc(f.texts, func(known string) bool {
		rest, found := strings.CutPrefix(text, known)
		return found && (rest == "" || strings.HasPrefix(rest, " script: "))
	})
}

// failed counts a command's error that a script gets, and remembers it.
func (r *scriptRun) failed(reply resp.Reply) {
	r.e.countError(reply.Text())
	r.failures.add(reply.Text())
}

// countReply counts the errors that the script made up itself and answers with,
// wherever they stand.
func (r *scriptRun) countReply(c *command.Ctx, reply resp.Reply) {
	c.Counted = true
	r.countErrors(reply)
}

func (r *scriptRun) countErrors(reply resp.Reply) {
	if reply.IsError() && !r.failures.has(reply.Text()) {
		r.e.countError(reply.Text())
	}
	for _, elem := range reply.Elems() {
		r.countErrors(elem)
	}
}
