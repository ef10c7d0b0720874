package command

// ResetStats sets the counters of INFO to 0.
func ResetStats(env *Env) {
	env.Stats = Stats{Errors: map[string]int64{}, Before: env.Server.Traffic()}
	env.Rates.Reset()
	env.Space.ResetStats()
	env.Table.ResetCalls()
}
