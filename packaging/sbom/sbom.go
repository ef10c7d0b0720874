// Package sbom writes a software bill of materials, in CycloneDX's JSON form, of
// programs that Go built: the modules that are in them, and how these depend on each
// other.
//
// Two calls with the same arguments return equal bytes: there is no serial number and
// no time but the one given.
package sbom

import (
	"bytes"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// Own is the module that the programs are built from.
const Own = "github.com/lockredis/lockredis"

// licences has the SPDX name of each module's licence. A module that is not in it must
// be added here and in THIRD_PARTY_NOTICES.
var licences = map[string]string{
	"github.com/tidwall/btree":   "MIT",
	"github.com/tidwall/match":   "MIT",
	"github.com/tidwall/redcon":  "MIT",
	"github.com/yuin/gopher-lua": "MIT",
	"golang.org/x/sys":           "BSD-3-Clause",
	"golang.org/x/term":          "BSD-3-Clause",
	"mvdan.cc/sh/v3":             "BSD-3-Clause",
	"stdlib":                     "BSD-3-Clause",
}

// Program describes what the bill is for.
type Program struct {
	Version string // of lockredis
	Commit  string // the source's commit
	Time    time.Time
	Files   []string // executables that Go built
	Notices string   // the text that has the licences of the modules
	Dir     string   // of the module that they are built from, for "go mod graph"
}

type document struct {
	BOMFormat    string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp  string     `json:"timestamp"`
	Component  component  `json:"component"`
	Properties []property `json:"properties"`
}

type component struct {
	Type     string    `json:"type"`
	Ref      string    `json:"bom-ref"`
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	Purl     string    `json:"purl"`
	Hashes   []hash    `json:"hashes,omitempty"`
	Licences []licence `json:"licenses"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type licence struct {
	Licence struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// Write returns the bill of p. It fails when two of the programs have different
// versions of a module, or when a module is missing in Notices or in the list of
// licences.
func (p Program) Write() ([]byte, error) {
	modules, goVersion, err := p.modules()
	if err != nil {
		return nil, err
	}
	own, err := describe("application", Own, "v"+p.Version, "", "MIT")
	if err != nil {
		return nil, err
	}
	doc := document{
		BOMFormat: "CycloneDX", SpecVersion: "1.5", Version: 1,
		Metadata: metadata{
			Timestamp:  p.Time.UTC().Format(time.RFC3339),
			Component:  own,
			Properties: []property{{"lockredis:commit", p.Commit}},
		},
	}
	for _, m := range modules {
		if !strings.Contains(p.Notices, m.Path+" "+m.Version) {
			return nil, fmt.Errorf("sbom: THIRD_PARTY_NOTICES has no %s %s", m.Path, m.Version)
		}
		c, err := describe("library", m.Path, m.Version, m.Sum, licences[m.Path])
		if err != nil {
			return nil, err
		}
		doc.Components = append(doc.Components, c)
	}
	stdlib, err := describe("library", "stdlib", "v"+strings.TrimPrefix(goVersion, "go"), "",
		licences["stdlib"])
	if err != nil {
		return nil, err
	}
	doc.Components = append(doc.Components, stdlib)
	if doc.Dependencies, err = p.edges(own, doc.Components); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err = encoder.Encode(doc)
	return out.Bytes(), err
}

// modules returns the modules that are in the programs, in the order of their paths,
// and the version of Go that built them.
func (p Program) modules() (modules []*debug.Module, goVersion string, err error) {
	for _, file := range p.Files {
		info, err := buildinfo.ReadFile(file)
		if err != nil {
			return nil, "", fmt.Errorf("sbom: %w", err)
		}
		if goVersion != "" && goVersion != info.GoVersion {
			return nil, "", fmt.Errorf("sbom: %s is built by %s, others by %s",
				file, info.GoVersion, goVersion)
		}
		goVersion = info.GoVersion
		for _, m := range info.Deps {
			if m.Path == Own {
				continue
			}
			at, found := slices.BinarySearchFunc(modules, m.Path,
				func(m *debug.Module, path string) int { return strings.Compare(m.Path, path) })
			switch {
			case !found:
				modules = slices.Insert(modules, at, m)
			case modules[at].Version != m.Version:
				return nil, "", fmt.Errorf("sbom: %s has %s %s, others %s",
					file, m.Path, m.Version, modules[at].Version)
			}
		}
	}
	return modules, goVersion, nil
}

// describe returns a component. sum is a line of go.sum's hash, or "".
func describe(kind, path, version, sum, spdx string) (component, error) {
	if spdx == "" {
		return component{}, fmt.Errorf("sbom: the licence of %s is unknown: add it to "+
			"packaging/sbom and THIRD_PARTY_NOTICES", path)
	}
	purl := "pkg:golang/" + path + "@" + version
	c := component{Type: kind, Ref: purl, Name: path, Version: version, Purl: purl,
		Licences: make([]licence, 1)}
	c.Licences[0].Licence.ID = spdx
	if encoded, ok := strings.CutPrefix(sum, "h1:"); ok {
		raw, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return component{}, fmt.Errorf("sbom: hash of %s: %w", path, err)
		}
		c.Hashes = []hash{{"SHA-256", hex.EncodeToString(raw)}}
	}
	return c, nil
}

// edges returns which of the components need which, as the module graph has it. The
// component own also stands for the module in Dir, when that is another one.
func (p Program) edges(own component, components []component) ([]dependency, error) {
	cmd := exec.Command("go", "mod", "graph")
	cmd.Dir = p.Dir
	graph, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("sbom: go mod graph: %w", err)
	}
	refs := map[string]string{} // by module path
	stdlib := ""
	for _, c := range components {
		refs[c.Name] = c.Ref
		if c.Name == "stdlib" {
			stdlib = c.Ref
		}
	}
	refs[Own], refs[Own+"/packaging"] = own.Ref, own.Ref
	needs := map[string][]string{}
	for ref := range refs {
		if refs[ref] != stdlib {
			needs[refs[ref]] = []string{stdlib}
		}
	}
	for line := range strings.Lines(string(graph)) {
		from, to, _ := strings.Cut(strings.TrimSpace(line), " ")
		from, _, _ = strings.Cut(from, "@")
		to, _, _ = strings.Cut(to, "@")
		if refs[from] == "" || refs[to] == "" || refs[from] == refs[to] {
			continue
		}
		if !slices.Contains(needs[refs[from]], refs[to]) {
			needs[refs[from]] = append(needs[refs[from]], refs[to])
		}
	}
	list := []dependency{{Ref: stdlib}}
	for ref, on := range needs {
		slices.Sort(on)
		list = append(list, dependency{ref, on})
	}
	slices.SortFunc(list, func(a, b dependency) int { return strings.Compare(a.Ref, b.Ref) })
	return list, nil
}
