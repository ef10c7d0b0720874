// Package persist keeps the databases in files. It writes Redis's RDB file, for SAVE, BGSAVE, a
// save point and the end of the server. It reads that file, or an append-only log that Redis has
// written. It writes no log.
//
// The file has the data of one moment: of SAVE, BGSAVE or the save point. Redis forks
// a process for it. Go cannot fork, and a copy of a million keys under the engine's lock would
// stop all clients for most of a second. Here a goroutine takes a store.Snapshot: it enters the
// engine again and again, encodes some keys, leaves and writes them. A command that is about
// to change a key which is still to come has the key encoded first. So no client waits longer
// than for a batch of keys, or for the largest value. Encoding is done inside the engine,
// compression too. Writing, the checksum and fsync are not.
//
// Reading a file at the start is one unit. It passes safe points, where the engine runs the units of
// other callers. All but the commands with the flag Loading answer -LOADING there. The file of a primary
// is read without the engine's lock, and then takes the place of the data.
//
//	files.go    the saves: who asks for one, who waits for it, how it ended
//	copy.go     the file for a replica, in pieces
//	save.go     one save: a snapshot, encoded in batches
//	loading.go  the start and the end of the server; the keys of an RDB file
//	load.go     one reading: its progress and its safe points
//	logfile.go  the commands of an append-only log
//	snapshot.go the content of a file, in memory: a primary's, or one for a test kit
//
// The package never imports the engine: Engine is what it needs of it. The formats are in
// internal/rdb and internal/aof, the directives in internal/config.
package persist
