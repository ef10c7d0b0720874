// Package scripting holds EVAL, SCRIPT, FCALL and FUNCTION. The scripts run in luaexec, through
// Env.Script.
package scripting
