package arch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// snippetFolders have the files that the blocks of the pages are parts of. The
// Java builds, .ci/examples-java and make frameworks compile and run them,
// packaging/image's tests the YAML.
var snippetFolders = []string{"examples", "java"}

// fence is a block of a page in a language that no Go test checks.
var fence = regexp.MustCompile("(?ms)^```(java|xml|groovy|kotlin|yaml|properties)\n(.*?)^```")

// TestJavaSnippetsArePartsOfFiles compares the blocks without their indentation.
// A line with … alone, perhaps as a comment, stands for left out lines.
func TestJavaSnippetsArePartsOfFiles(t *testing.T) {
	files := snippetFiles(t)
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, filepath.Join(root, "README.md"), filepath.Join(root, "examples", "README.md"))
	blocks := 0
	for _, page := range pages {
		for _, m := range fence.FindAllStringSubmatch(readText(t, page), -1) {
			blocks++
			in := func(file string) bool { return contains(file, m[2]) }
			if !slices.ContainsFunc(files, in) {
				t.Errorf("%s has code that is in no file of %v:\n%s", page, snippetFolders, m[2])
			}
		}
	}
	if blocks < 10 {
		t.Errorf("found %d blocks", blocks)
	}
}

func TestChangedSnippetsAreFound(t *testing.T) {
	const file = "class A {\n    int a;\n\n    int b;\n    int c;\n}\n"
	for block, want := range map[string]bool{
		"int a;\n\nint b;\n":              true,
		"int a;\nint b;\n":                false,
		"class A {\n    // …\n  int c;\n": true,
		"int c;\n// …\nint a;\n":          false,
		"int a\n":                         false,
		"\n":                              false,
	} {
		if got := contains(plain(file), block); got != want {
			t.Errorf("%q: got %v", block, got)
		}
	}
}

// contains reports whether the parts of a block are in a plain file, in their order.
func contains(file, block string) bool {
	parts := regexp.MustCompile(`\n(?://|<!--)? ?…(?: -->)?\n`).Split(plain(block), -1)
	for _, part := range parts {
		part = "\n" + strings.Trim(part, "\n") + "\n"
		at := strings.Index(file, part)
		if part == "\n\n" || at < 0 {
			return false
		}
		file = file[at+len(part)-1:] // with the line's end, where the next part may begin
	}
	return true
}

// plain returns code without indentation and line ends of Windows.
func plain(code string) string {
	return "\n" + regexp.MustCompile(`(?m)^[ \t]+|\r`).ReplaceAllString(code, "") + "\n"
}

func snippetFiles(t *testing.T) (files []string) {
	for _, folder := range snippetFolders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return fmt.Errorf("walk %s: %w", path, err)
			case d.IsDir() && slices.Contains([]string{"target", "build"}, d.Name()):
				return fs.SkipDir
			case slices.Contains([]string{".java", ".groovy", ".kt", ".xml", ".gradle", ".kts", ".yaml", ".properties"}, filepath.Ext(path)):
				files = append(files, plain(readText(t, path)))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
