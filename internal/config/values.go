package config

import "slices"

// Values are the values of all directives at one time.
type Values []string

// Values returns the present values.
func (c *Config) Values() Values {
	values := make(Values, len(c.settings))
	for i := range c.settings {
		values[i] = c.settings[i].value
	}
	return values
}

// Restore puts the values of c back that CONFIG SET has changed since, as one CONFIG SET does, but for
// those of the directives in except. After an error nothing has changed.
func (c *Config) Restore(values Values, except ...string) error {
	var changes []change
	for i := range c.settings {
		if s := &c.settings[i]; s.value != values[i] && !slices.Contains(except, s.name) {
			changes = append(changes, change{setting: s, name: s.name, old: s.value, changed: true})
			c.put(s, values[i])
		}
	}
	return c.runHooks(changes)
}
