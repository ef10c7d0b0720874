package connection

import (
	"slices"
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

var (
	errRedirectTwice = resp.Error("ERR A client can only redirect to a single other client")
	errRedirectNone  = resp.Error("ERR The client ID you want redirect to does not exist")
	errPrefixMode    = resp.Error("ERR PREFIX option requires BCAST mode to be enabled")
	errBcastSwitch   = resp.Error("ERR You can't switch BCAST mode on/off before disabling " +
		"tracking for this client, and then re-enabling it with a different mode.")
	errBcastOpt  = resp.Error("ERR OPTIN and OPTOUT are not compatible with BCAST")
	errOptBoth   = resp.Error("ERR You can't specify both OPTIN mode and OPTOUT mode")
	errOptSwitch = resp.Error("ERR You can't switch OPTIN/OPTOUT mode before disabling " +
		"tracking for this client, and then re-enabling it with a different mode.")
	errCachingOff = resp.Error("ERR CLIENT CACHING can be called only when the client is in " +
		"tracking mode with OPTIN or OPTOUT mode enabled")
	errCachingYes = resp.Error("ERR CLIENT CACHING YES is only valid when tracking is enabled " +
		"in OPTIN mode.")
	errCachingNo = resp.Error("ERR CLIENT CACHING NO is only valid when tracking is enabled " +
		"in OPTOUT mode.")
)

// trackingOptions are the options of a CLIENT TRACKING line.
type trackingOptions struct {
	mode     command.TrackingMode
	redirect int64
	prefixes []string
}

func clientTracking(c *command.Ctx, args resp.Args) resp.Reply {
	o, failure, ok := parseTracking(c, args)
	if !ok {
		return failure
	}
	switch {
	case command.IsWord(args[2], "off"):
		c.Tracking.Disable(c.Session)
		return resp.OK
	case !command.IsWord(args[2], "on"):
		return resp.ErrSyntax
	}
	if failure, ok = o.fits(c.Session); !ok {
		return failure
	}
	c.Tracking.Enable(c.Session, o.mode|command.TrackingOn, o.redirect, o.prefixes)
	return resp.OK
}

func parseTracking(c *command.Ctx, args resp.Args) (o trackingOptions, failure resp.Reply, ok bool) {
	for i := 3; i < len(args); i++ {
		switch more := i+1 < len(args); {
		case command.IsWord(args[i], "redirect") && more:
			i++
			if o.redirect != 0 {
				return o, errRedirectTwice, false
			}
			if o.redirect, ok = resp.ParseInt(args[i]); !ok {
				return o, resp.ErrNotInt, false
			}
			if c.Clients.ByID(o.redirect) == nil {
				return o, errRedirectNone, false
			}
		case command.IsWord(args[i], "prefix") && more:
			i++
			o.prefixes = append(o.prefixes, args.String(i))
		case command.IsWord(args[i], "bcast"):
			o.mode |= command.Broadcast
		case command.IsWord(args[i], "optin"):
			o.mode |= command.OptIn
		case command.IsWord(args[i], "optout"):
			o.mode |= command.OptOut
		case command.IsWord(args[i], "noloop"):
			o.mode |= command.NoLoop
		default:
			return o, resp.ErrSyntax, false
		}
	}
	return o, failure, true
}

// fits checks the options of CLIENT TRACKING ON against each other and against the present
// mode of s.
func (o *trackingOptions) fits(s *command.Session) (failure resp.Reply, ok bool) {
	var now command.TrackingState
	if s.Tracks() {
		now = *s.Tracking
	}
	opt, was := o.mode&(command.OptIn|command.OptOut), now.Mode&(command.OptIn|command.OptOut)
	switch {
	case !o.mode.Has(command.Broadcast) && len(o.prefixes) > 0:
		return errPrefixMode, false
	case now.Mode.Has(command.TrackingOn) && now.Mode.Has(command.Broadcast) != o.mode.Has(command.Broadcast):
		return errBcastSwitch, false
	case o.mode.Has(command.Broadcast) && opt != 0:
		return errBcastOpt, false
	case opt == command.OptIn|command.OptOut:
		return errOptBoth, false
	case opt != 0 && was != 0 && opt != was:
		return errOptSwitch, false
	}
	return o.overlap(now.Prefixes)
}

// overlap checks that no prefix is the beginning of another one. have are the client's
// prefixes so far.
//
// Differs from Redis: there an overlap of the second and a later prefix of the line gets an
// error, and a second reply, because the command continues.
func (o *trackingOptions) overlap(have []string) (failure resp.Reply, ok bool) {
	for i, name := range o.prefixes {
		for _, other := range have {
			if overlaps(name, other) {
				return errOverlap(name, "an existing", other), false
			}
		}
		for _, other := range o.prefixes[i+1:] {
			if overlaps(name, other) {
				return errOverlap(name, "another provided", other), false
			}
		}
	}
	return failure, true
}

func overlaps(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }

// errOverlap names two prefixes. As in Redis, a prefix ends at its first NUL there.
func errOverlap(name, which, other string) resp.Reply {
	name, _, _ = strings.Cut(name, "\x00")
	other, _, _ = strings.Cut(other, "\x00")
	return resp.Errorf("ERR Prefix '%s' overlaps with %s prefix '%s'. Prefixes for a single "+
		"client must not overlap.", name, which, other)
}

func clientCaching(c *command.Ctx, args resp.Args) resp.Reply {
	if !c.Session.Tracks() {
		return errCachingOff
	}
	t := c.Session.Tracking
	switch {
	case command.IsWord(args[2], "yes"):
		if !t.Mode.Has(command.OptIn) {
			return errCachingYes
		}
	case command.IsWord(args[2], "no"):
		if !t.Mode.Has(command.OptOut) {
			return errCachingNo
		}
	default:
		return resp.ErrSyntax
	}
	t.Mode |= command.Caching
	return resp.OK
}

func clientGetredir(c *command.Ctx, _ resp.Args) resp.Reply { return resp.Int(c.Session.Redirection()) }

func clientTrackinginfo(c *command.Ctx, _ resp.Args) resp.Reply {
	var t command.TrackingState
	state := "off"
	if c.Session.Tracks() {
		t, state = *c.Session.Tracking, "on"
	}
	flags := []resp.Reply{resp.BulkString(state)}
	for _, f := range []struct {
		bits command.TrackingMode
		name string
	}{
		{command.Broadcast, "bcast"},
		{command.OptIn, "optin"},
		{command.OptIn | command.Caching, "caching-yes"},
		{command.OptOut, "optout"},
		{command.OptOut | command.Caching, "caching-no"},
		{command.NoLoop, "noloop"},
		{command.BrokenRedirect, "broken_redirect"},
	} {
		if t.Mode.Has(f.bits) {
			flags = append(flags, resp.BulkString(f.name))
		}
	}
	return resp.Map(
		resp.BulkString("flags"), resp.Set(flags...),
		resp.BulkString("redirect"), resp.Int(c.Session.Redirection()),
		resp.BulkString("prefixes"), resp.BulkArray(slices.Clone(t.Prefixes)),
	)
}
