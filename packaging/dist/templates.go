package main

import (
	"bytes"
	"embed"
	"strings"
	"text/template"
)

//go:embed lockredis.rb.tmpl install.sh.tmpl
var templates embed.FS

// filled writes the Homebrew formula and the install script: the templates, with the
// version and the archives' checksums.
func (r *release) filled() error {
	parsed, err := template.New("").Option("missingkey=error").ParseFS(templates, "*.tmpl")
	if err != nil {
		return err
	}
	values := map[string]string{"version": r.version}
	for _, platform := range platforms {
		key := strings.ReplaceAll(platform, "-", "_")
		values[key] = r.sums["lockredis-"+r.version+"-"+platform+".tar.gz"]
	}
	for _, name := range []string{"lockredis.rb", "install.sh"} {
		var out bytes.Buffer
		if err := parsed.ExecuteTemplate(&out, name+".tmpl", values); err != nil {
			return err
		}
		if err := r.save(name, out.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
