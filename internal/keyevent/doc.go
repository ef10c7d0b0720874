// Package keyevent holds the classes of keyspace events: their bits, and their
// letters in the directive notify-keyspace-events. It publishes nothing: the
// engine does. internal/config reads and shows the letters, and
// internal/command names the class of each event.
package keyevent
