package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/acl"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/journal"
	"github.com/lockredis/lockredis/internal/persist"
	"github.com/lockredis/lockredis/resp"
)

// State is what one test can change for the next one, beside data: the directives, the users of ACL
// and the libraries of functions.
type State struct {
	directives config.Values
	users      map[string]string // their rules, by name
	libraries  []string          // their source texts, in the order of their names
}

// State returns the present state.
func (k Kit) State() (now State) {
	k.e.Outside(func() { now = k.state() })
	return now
}

func (k Kit) state() State {
	env := &k.e.env
	users := map[string]string{}
	for _, name := range env.Users.Names() {
		users[name] = rules(env.Users.Get(name))
	}
	return State{env.Config.Values(), users, env.Scripts.LibraryCodes()}
}

// Restore puts a state back, and the clock. Before, it ends the running script, CLIENT PAUSE and the
// faults of FAULT.ADD, lets go what these delay, and closes the connections that they have muted.
// Users that are not in the state are gone, and their clients' connections end. What is as in the
// state stays as it is, and so does notify-keyspace-events: client libraries set it once, when they
// first need it. Restore goes on after an error and returns all errors.
func (k Kit) Restore(to State) (err error) {
	k.EndScript()
	k.e.Outside(func() {
		k.e.pausing.Unpause()
		if clock, ok := k.e.clock.(expiry.Turnable); ok {
			k.putClock(clock.Real())
		}
		if k.e.faults != nil {
			k.e.faults.ClearFaults()
			k.e.faults.CutMuted()
		}
		now := k.state()
		stay := []string{"notify-keyspace-events"}
		if k.e.peer != nil {
			stay = append(stay, "replicaof") // the cluster decides
		}
		err = k.e.env.Config.Restore(to.directives, stay...)
		k.e.replicas.FollowDirective()
		err = errors.Join(err, k.restoreUsers(now.users, to.users))
		if !slices.Equal(now.libraries, to.libraries) {
			err = errors.Join(err, k.restoreLibraries(to.libraries))
		}
	})
	return err
}

// PutClock sets the clock to a time, which may be earlier. Keys whose deadline is over then end by
// themselves, after PutClock.
func (k Kit) PutClock(to time.Time) { k.e.Outside(func() { k.putClock(to) }) }

func (k Kit) putClock(to time.Time) {
	if by := to.Sub(k.e.clock.Now()); by != 0 {
		k.e.turning.shift(by)
		k.e.readClock()
	}
}

// Together calls do in one unit, with a function that runs a command. Before, it ends the running
// script. A reply is valid until the next command.
func (k Kit) Together(do func(run func(words ...string) resp.Reply)) {
	k.EndScript()
	k.e.Outside(func() {
		do(k.run)
		k.e.parking.serveReady()
	})
}

// PutBackSlots puts the slots of a cluster's node back as they were at its start: none of them
// migrates or is imported, and the node owns those that it had. The other nodes delete their keys of
// these slots, as when a slot moves. On another server it does nothing.
func (k Kit) PutBackSlots() {
	k.e.Outside(func() {
		env := &k.e.env
		if env.Cluster == nil {
			return
		}
		if before := env.Cluster.PutBack(); before != nil {
			env.ViewChanged(before)
		}
	})
}

// Load replaces all keys by those of an RDB file, and adds the file's libraries of functions, in one
// unit. Keys whose deadlines are over are left out, as at a start. A new key serves the clients that
// wait for it. before runs inside the unit, before anything changes. An error says what is wrong with
// the file: then nothing changes. Like Together, Load first ends the running script.
func (k Kit) Load(file []byte, before func(run func(words ...string) resp.Reply)) (err error) {
	k.Together(func(run func(words ...string) resp.Reply) {
		var data *persist.Snapshot
		if data, err = k.e.files.Decode(file); err != nil {
			return
		}
		libraries := k.e.env.Scripts.LibraryCodes()
		for _, code := range data.Libraries {
			err = errors.Join(err, k.do("FUNCTION", "LOAD", "REPLACE", code))
		}
		if err != nil {
			err = errors.Join(err, k.restoreLibraries(libraries))
			return
		}
		before(run)
		run("FLUSHALL")
		defer k.e.journal.Because(journal.ByLoad)()
		k.e.files.Fill(data)
		k.e.replicas.Forget()
	})
	return err
}

func (k Kit) restoreUsers(now, to map[string]string) (err error) {
	for name := range now {
		if _, stays := to[name]; !stays {
			err = errors.Join(err, k.do("ACL", "DELUSER", name))
		}
	}
	for name, wanted := range to {
		if user := k.e.env.Users.Get(name); user == nil || rules(user) != wanted {
			line := append([]string{"ACL", "SETUSER", name, "reset"}, strings.Fields(wanted)...)
			err = errors.Join(err, k.do(line...))
		}
	}
	return err
}

// rules returns what ACL SETUSER needs to make the user.
func rules(user *acl.User) string { return strings.TrimPrefix(user.String(), "user "+user.Name+" ") }

func (k Kit) restoreLibraries(codes []string) error {
	err := k.do("FUNCTION", "FLUSH")
	for _, code := range codes {
		err = errors.Join(err, k.do("FUNCTION", "LOAD", code))
	}
	return err
}

// do runs a command inside the engine and returns the error that it replies.
func (k Kit) do(words ...string) (err error) {
	if reply := k.run(words...); reply.IsError() {
		err = fmt.Errorf("%s: %s", strings.Join(words[:2], " "), reply.Text())
	}
	return err
}

// run runs a command inside the engine.
func (k Kit) run(words ...string) resp.Reply {
	args := make(resp.Args, len(words))
	for i, word := range words {
		args[i] = []byte(word)
	}
	return k.direct(k.session(0), args)
}

// EndScript ends the running script or function, even one that SCRIPT KILL can't end because it has
// written. It waits until none runs.
func (k Kit) EndScript() {
	k.e.script.ended.Store(true)
	k.e.Outside(func() { k.e.script.ended.Store(false) })
}
