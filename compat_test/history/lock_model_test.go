package history

// lockState is a lock and its owner.
type lockState struct {
	owner  int    // 0: free
	count  int    // of the owner's holds on the server
	stamp  int    // the operation that set the lease
	undo   int    // the operation of unknown outcome, if it happened
	token  int64  // the highest token so far
	due    uint64 // bits of the owners with an acquisition that is still to be undone
	tryers uint64 // bits of the owners of multi-locks that may hold it for moments
	forced uint64 // bits of the owners whose holds were ended by force
}

// lockModel is the model of the reentrant locks. Each acquisition that does not re-enter
// a hold has an owner of its own.
func lockModel() model[lockState] {
	return model[lockState]{step: lockStep, keys: true}
}

func lockStep(s lockState, o *op) []lockState {
	mine := s.owner == o.Owner
	switch o.What {
	case acquire:
		return lockAcquire(s, o)
	case release:
		return lockRelease(s, o)
	case enter, exit:
		return when(enters(s, o) && (o.Token == 0 || !mine || o.Token == s.token), s)
	case update, renew:
		return lockUpdate(s, o)
	case drop:
		if mine {
			return []lockState{s, s.free()}
		}
	case force:
		return lockForce(s, o)
	case count:
		return when(o.N == 0 && !mine || mine && o.N == s.count, s)
	case locked:
		return when((o.N == 1) == (s.owner != 0) || o.N == 1 && s.tryers != 0, s)
	case end:
		if s.stamp == o.Of {
			return []lockState{s.free()}
		}
	case undo:
		done := s
		done.due &^= 1 << o.Owner
		switch {
		case done == s:
			return nil // not before the acquisition
		case s.undo != o.Of:
			return []lockState{done}
		case o.Optional:
			return []lockState{done, done.down(0)}
		}
		return []lockState{done.down(0)}
	case begin:
		s.tryers |= 1 << o.Owner
	case finish:
		done := s
		done.tryers &^= 1 << o.Owner
		return when(done != s, done)
	}
	return []lockState{s}
}

// when returns s, or no state if the condition is false.
func when[S any](possible bool, s S) []S {
	if possible {
		return []S{s}
	}
	return nil
}

func (s lockState) free() lockState {
	return lockState{token: s.token, tryers: s.tryers, due: s.due, forced: s.forced}
}

// taken is s without its owner, who does not know that the hold was ended by force.
func (s lockState) taken() lockState {
	s.forced |= 1 << s.owner
	return s.free()
}

// enters reports whether an owner may have re-entered its hold, or may have released
// such a hold.
func enters(s lockState, o *op) bool {
	mine := s.owner == o.Owner
	if o.Result == lost {
		return !mine || o.Lax
	}
	return mine || s.forced&(1<<o.Owner) != 0
}

// lockUpdate sets the owner's lease.
func lockUpdate(s lockState, o *op) []lockState {
	mine := s.owner == o.Owner
	set := s
	if mine {
		set.stamp = o.ID
	}
	switch {
	case o.Result == unknown || o.Optional || o.Lax:
		return []lockState{s, set}
	case o.Result == lost:
		return when(!mine || o.Lax, s)
	}
	return when(mine || o.What == renew, set)
}

// down lowers the hold count. stamp is the operation that set the lease again, or 0.
func (s lockState) down(stamp int) lockState {
	s.undo = 0
	if s.count--; s.count == 0 {
		return s.free()
	}
	if stamp != 0 {
		s.stamp = stamp
	}
	return s
}

func (s lockState) up(o *op) lockState {
	s.owner, s.stamp, s.undo = o.Owner, o.ID, 0
	s.count++
	s.token = max(s.token, o.Token)
	return s
}

func lockAcquire(s lockState, o *op) []lockState {
	mine := s.owner == o.Owner
	free := s.owner == 0 || mine
	switch o.Result {
	case ok:
		return when(free && (o.Token == 0 || o.Token > s.token), s.up(o))
	case refused:
		return when(!free || s.tryers&^(1<<o.Owner) != 0, s)
	case lost:
		return when(!mine || o.Lax, s)
	}
	s.due |= 1 << o.Owner
	states := []lockState{s}
	if free {
		t := s.up(o)
		t.undo = o.ID
		states = append(states, t)
	}
	return states
}

func lockRelease(s lockState, o *op) []lockState {
	mine := s.owner == o.Owner
	switch {
	case o.Result == ok:
		return when(mine, s.down(o.ID))
	case o.Result != unknown:
		return when(!mine || o.Lax, s)
	case mine:
		return []lockState{s, s.down(o.ID)}
	}
	return []lockState{s}
}

func lockForce(s lockState, o *op) []lockState {
	switch {
	case o.Result == unknown:
		return []lockState{s, s.taken()}
	case o.N == 1:
		return when(s.owner != 0 || s.tryers != 0, s.taken())
	}
	return when(s.owner == 0, s)
}
