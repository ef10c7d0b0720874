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

// errorCounts counts errors, for the failed and rejected calls of INFO commandstats and the classes
// of INFO errorstats. No other code counts them.
type errorCounts struct {
	stats  *command.Stats
	table  *command.Table
	script *scriptRun
}

// ended counts the errors in the reply of a command that has run. In a script's reply, each
// error of a command is a failed call of EVAL, and all errors that the script made are one.
func (n *errorCounts) ended(c *command.Ctx, reply resp.Reply) {
	switch {
	case c.Cmd.Flags&runsScripts != 0:
		made, known := n.countNew(reply)
		if made {
			known++
		}
		n.table.Calls(c.Cmd).Failed += known
		n.script.errors.clear()
	case reply.IsError():
		n.failed(c.Cmd, reply)
		n.toScript(c, reply)
	}
}

// runsScripts are the flags of the commands that run scripts and functions.
const runsScripts = command.DeclaresInSource | command.DeclaresBySHA | command.DeclaresByName

// failed counts an error reply of a command.
func (n *errorCounts) failed(cmd *command.Command, reply resp.Reply) {
	n.table.Calls(cmd).Failed++
	n.count(reply.Text())
}

// unblocked counts an end of a wait that is no error: Redis counts it as a failed call.
func (n *errorCounts) unblocked(cmd *command.Command) { n.table.Calls(cmd).Failed++ }

// rejected counts a command that was not admitted.
func (n *errorCounts) rejected(c *command.Ctx, refusal resp.Reply) {
	if c.Cmd != nil {
		n.table.Calls(c.Cmd).Rejected++
	}
	n.count(refusal.Text())
	n.toScript(c, refusal)
}

// toScript keeps an error reply, if the running script gets it.
func (n *errorCounts) toScript(c *command.Ctx, reply resp.Reply) {
	if c.From == command.FromScript {
		n.script.errors.add(reply.Text())
	}
}

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
func (n *errorCounts) countNew(reply resp.Reply) (made bool, known int64) {
	if reply.IsError() {
		if n.script.errors.has(reply.Text()) {
			known = 1
		} else {
			n.count(reply.Text())
			made = true
		}
	}
	for _, elem := range reply.Elems() {
		m, k := n.countNew(elem)
		made, known = made || m, known+k
	}
	return made, known
}
