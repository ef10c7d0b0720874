// Package lockkeys holds the names of the keys and channels that Redisson's locks use
// beside the key that bears the lock's own name. rlock makes keys with these names; the
// inspector and the test kit recognise them.
//
// In a cluster all keys of one lock must be in one slot. So a name is put in braces,
// redisson_lock_queue:{orders}, and only the text in braces decides the slot. A name that
// contains an opening brace stays as it is: it brings its own braces.
//
// The package imports nothing of the project.
package lockkeys
