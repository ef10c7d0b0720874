package compat

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

// redissonCase is one test of the suite, as a report lists it.
type redissonCase struct {
	scenario string // class
	test     string // method, without the arguments of a parameterized one
	failure  string // the failure, or empty
	skipped  bool
	again    string // the failure of the first run when a second run passed; else empty
}

// name returns the test's name as complaints and expected-skips.txt write it.
func (c redissonCase) name() string { return c.scenario + "." + c.test }

// readRedissonReports reads the XML reports of one run. A missing folder means a run
// without tests.
func readRedissonReports(dir string) ([]redissonCase, error) {
	files, err := filepath.Glob(filepath.Join(dir, "TEST-*.xml"))
	if err != nil {
		return nil, err
	}
	var tests []redissonCase
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		// Classes run in parallel, so a test may be in the report file of another class. The
		// suite's name says nothing; the test's class does.
		var suite struct {
			Cases []struct {
				Class   string    `xml:"classname,attr"`
				Name    string    `xml:"name,attr"`
				Skipped *struct{} `xml:"skipped"`
				Failure *trouble  `xml:"failure"`
				Error   *trouble  `xml:"error"`

				FlakyFailure *trouble `xml:"flakyFailure"`
				FlakyError   *trouble `xml:"flakyError"`
			} `xml:"testcase"`
		}
		if err := xml.Unmarshal(text, &suite); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, c := range suite.Cases {
			method, _, _ := strings.Cut(c.Name, "(")
			class := c.Class[strings.LastIndex(c.Class, ".")+1:]
			if method == "" {
				method = "all" // a failure before the first test of a class
			}
			tests = append(tests, redissonCase{
				scenario: class, test: method, failure: c.Failure.text() + c.Error.text(),
				skipped: c.Skipped != nil,
				again:   c.FlakyFailure.text() + c.FlakyError.text(),
			})
		}
	}
	return tests, nil
}

// trouble is a failure or an error in a report.
type trouble struct {
	Message string `xml:"message,attr"`
	Trace   string `xml:",chardata"`
}

func (t *trouble) text() string {
	if t == nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(t.Trace), "\n")
	if len(lines) > 6 {
		lines = lines[:6]
	}
	if text := strings.Join(lines, "\n"); text != "" {
		return text
	}
	return t.Message + " (no trace)"
}

var redissonTestClass = regexp.MustCompile(`^(\w+Test)\.java$`)

// redissonScenarios returns the test classes of all source folders, for all releases.
func redissonScenarios(home string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(home, "src", "*", "lockredis", "*Test.java"))
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, file := range files {
		if m := redissonTestClass.FindStringSubmatch(filepath.Base(file)); m != nil {
			found[m[1]] = true
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no scenarios in %s", home)
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// readExpectedSkips reads the scenarios and single tests that each release skips. A line
// is a name and the releases. "#" starts a comment.
func readExpectedSkips(path string) (map[string]map[string]bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	skips := map[string]map[string]bool{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) == 1 {
			return nil, fmt.Errorf("%s: %s is skipped in no release", path, words[0])
		}
		for _, release := range words[1:] {
			if !slices.Contains(redissonReleases[:], release) {
				return nil, fmt.Errorf("%s: %s: no release %q", path, words[0], release)
			}
			if skips[release] == nil {
				skips[release] = map[string]bool{}
			}
			skips[release][words[0]] = true
		}
	}
	return skips, nil
}

// redissonVerdict is the result of one run.
type redissonVerdict struct {
	cells      map[string]string // by scenario
	complaints []string
	notes      []string // tests that passed only at the second run
}

// redissonSecondRuns is how many tests of a run may need a second attempt. Surefire gives
// each test two (pom.xml). Hundreds of timed waits share the machine with a JVM and a
// server; the same tests fail on redis-server now and then.
const redissonSecondRuns = 2

// judgeRedisson compares a run with its expected result: every scenario ran and passed,
// except for the expected skips, which must have been skipped. A skip names a whole
// scenario or one test.
func judgeRedisson(scenarios []string, tests []redissonCase,
	skips map[string]bool) redissonVerdict {
	verdict := redissonVerdict{cells: map[string]string{}}
	complain := func(scenario, format string, args ...any) {
		verdict.cells[scenario] = "FAIL"
		verdict.complaints = append(verdict.complaints, fmt.Sprintf(format, args...))
	}
	met := map[string]bool{}
	again := 0
	for _, scenario := range scenarios {
		verdict.cells[scenario] = "-"
	}
	for _, c := range tests {
		if verdict.cells[c.scenario] == "-" {
			verdict.cells[c.scenario] = "ok"
		}
		met[c.scenario] = met[c.scenario] || !c.skipped
		expected := skips[c.scenario] || skips[c.name()]
		switch {
		case c.failure != "":
			complain(c.scenario, "%s failed: %s", c.name(), c.failure)
		case c.again != "":
			if again++; again > redissonSecondRuns {
				complain(c.scenario, "%s passed only at its second run, like %d before it: %s", c.name(),
					redissonSecondRuns, c.again)
			} else {
				verdict.cells[c.scenario] = "2nd"
				note := fmt.Sprintf("%s passed only at its second run; first run: %s", c.name(), c.again)
				verdict.notes = append(verdict.notes, note)
			}
		case c.skipped && !expected:
			complain(c.scenario, "%s was skipped, and expected-skips.txt does not list it", c.name())
		case !c.skipped && expected:
			complain(c.scenario, "%s ran, but expected-skips.txt lists it", c.name())
		case c.skipped:
			met[c.name()] = true
			if verdict.cells[c.scenario] == "ok" {
				verdict.cells[c.scenario] = "part"
			}
		}
	}
	for _, scenario := range scenarios {
		if !met[scenario] && !skips[scenario] && verdict.cells[scenario] != "FAIL" {
			complain(scenario, "%s did not run, and expected-skips.txt does not list it", scenario)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(skips)) {
		scenario, _, single := strings.Cut(name, ".")
		if single && !met[name] && verdict.cells[scenario] != "FAIL" {
			complain(scenario, "%s was not skipped, but expected-skips.txt lists it", name)
		}
	}
	return verdict
}

// redissonTable is the result of all runs. Each server has a row for each scenario and a
// column for each release.
type redissonTable struct {
	scenarios, releases, servers []string
	cells                        map[[3]string]string // server, scenario, release
}

func newRedissonTable(scenarios, releases []string) *redissonTable {
	return &redissonTable{scenarios: scenarios, releases: releases, cells: map[[3]string]string{}}
}

func (table *redissonTable) add(server, release string, verdict redissonVerdict) {
	if !slices.Contains(table.servers, server) {
		table.servers = append(table.servers, server)
	}
	for scenario, cell := range verdict.cells {
		table.cells[[3]string{server, scenario, release}] = cell
	}
}

func (table *redissonTable) String() string {
	var out strings.Builder
	fmt.Fprintln(&out, "ok: passed; 2nd: one test needed a second run; "+
		"part: passed, with expected skips; -: not in that release")
	for _, server := range table.servers {
		w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
		fmt.Fprintf(w, "%s\t%s\n", server, strings.Join(table.releases, "\t"))
		for _, scenario := range table.scenarios {
			row := []string{scenario}
			for _, release := range table.releases {
				row = append(row, table.cells[[3]string{server, scenario, release}])
			}
			fmt.Fprintln(w, strings.Join(row, "\t"))
		}
		w.Flush()
	}
	return out.String()
}
