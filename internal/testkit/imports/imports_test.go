package imports

import (
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/sources"
)

const module = "github.com/cairnml/cairn"

// row is a row of ARCHITECTURE.md's table.
type row struct {
	name string          // "tensor", "kernel", "cmd/cairn", "" for the root
	uses map[string]bool // packages whose imports are allowed, directly or through others
}

var code = regexp.MustCompile("`([^`]+)`")

// readTable reads the table of packages and closes it: a package that may use
// another may use the packages that one uses.
func readTable(t *testing.T) map[string]*row {
	t.Helper()
	text := sources.Read(t, "ARCHITECTURE.md")
	_, table, ok := strings.Cut(text, "\n## Packages\n")
	if !ok {
		t.Fatal("ARCHITECTURE.md has no section Packages")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	rows := map[string]*row{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		m := code.FindStringSubmatch(cells[0])
		if len(cells) != 3 || m == nil {
			continue
		}
		r := &row{name: strings.TrimSuffix(m[1], "/<family>"), uses: map[string]bool{}}
		switch {
		case r.name == "cairn":
			r.name = ""
		case strings.HasPrefix(r.name, "internal"):
			continue
		}
		if strings.Contains(cells[2], "all of the above") {
			for name := range rows {
				r.uses[name] = true
			}
		} else {
			for used := range strings.SplitSeq(cells[2], ",") {
				if used = strings.TrimSpace(used); used == "" {
					continue
				}
				above, ok := rows[used]
				if !ok {
					t.Fatalf("ARCHITECTURE.md: %s uses %q, which doesn't stand above it", r.name, used)
				}
				r.uses[used] = true
				maps.Copy(r.uses, above.uses)
			}
		}
		rows[r.name] = r
	}
	if len(rows) < 10 {
		t.Fatalf("ARCHITECTURE.md's table has %d packages: is its form another?", len(rows))
	}
	return rows
}

// source is a package as its files show it, whatever the build tags; tests are
// left out.
type source struct {
	imports map[string][]string // import path to the files
	inits   []string            // files with an init function
	blanks  []string            // blank imports
}

func readSources(t *testing.T) map[string]*source {
	t.Helper()
	all := map[string]*source{}
	for _, f := range sources.Go(t, sources.NotTest) {
		if f.Nested() || f.Program(t) {
			continue
		}
		dir := f.Dir()
		if dir == "." {
			dir = ""
		}
		s := all[dir]
		if s == nil {
			s = &source{imports: map[string][]string{}}
			all[dir] = s
		}
		file := f.Syntax(t)
		for _, imp := range file.Imports {
			to, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			s.imports[to] = append(s.imports[to], f.Name)
			if imp.Name != nil && imp.Name.Name == "_" && to != "embed" && to != "unsafe" {
				s.blanks = append(s.blanks, f.Name+": "+to)
			}
		}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				s.inits = append(s.inits, f.Name)
			}
		}
	}
	return all
}

// rowOf finds the row that a directory belongs to; ok is false for internal
// packages, examples, tests and tools, which have none.
func rowOf(rows map[string]*row, dir string) (string, bool) {
	for d := dir; ; d = path.Dir(d) {
		if d == "." {
			d = ""
		}
		if _, ok := rows[d]; ok && (d != "" || dir == "") {
			return d, true
		}
		if d == "" {
			return "", false
		}
	}
}

// reach lists, for every directory, the packages of the table that it reaches through
// others, with one way to each.
type reach struct {
	rows    map[string]*row
	sources map[string]*source
	memo    map[string]map[string]string
}

func (r *reach) of(dir string) map[string]string {
	if got, ok := r.memo[dir]; ok {
		return got
	}
	out := map[string]string{}
	r.memo[dir] = out // the go command refuses cycles
	s := r.sources[dir]
	if s == nil {
		return out
	}
	for to, files := range s.imports {
		if to != module && !strings.HasPrefix(to, module+"/") {
			continue
		}
		target := strings.TrimPrefix(strings.TrimPrefix(to, module), "/")
		if name, ok := rowOf(r.rows, target); ok {
			out[name] = files[0]
			continue
		}
		for name, way := range r.of(target) {
			out[name] = files[0] + ", " + way
		}
	}
	return out
}

// TestPackagesUseOnlyTheirRow checks the packages against ARCHITECTURE.md's
// table. An internal package counts as its imports: a package may use one only if
// it leads to no package of the table that it mayn't use itself.
func TestPackagesUseOnlyTheirRow(t *testing.T) {
	rows := readTable(t)
	r := &reach{rows: rows, sources: readSources(t), memo: map[string]map[string]string{}}
	seen := map[string]bool{}
	for _, dir := range slices.Sorted(maps.Keys(r.sources)) {
		name, ok := rowOf(rows, dir)
		if !ok {
			continue
		}
		seen[name] = true
		for to, way := range r.of(dir) {
			if to != name && !rows[name].uses[to] {
				t.Errorf("%s may not use %s (%s)", dir, display(to), way)
			}
		}
	}
	for name := range rows {
		if !seen[name] {
			t.Errorf("ARCHITECTURE.md has a row %s, and there is no such package", display(name))
		}
	}
}

func display(name string) string {
	if name == "" {
		return "the root"
	}
	return name
}

// TestEveryPackageHasARow checks that the table lists every package.
func TestEveryPackageHasARow(t *testing.T) {
	rows := readTable(t)
	for dir := range readSources(t) {
		top, _, _ := strings.Cut(dir, "/")
		if _, ok := rowOf(rows, dir); !ok && !slices.Contains([]string{"internal", "examples", "interop", "bench", "test"}, top) {
			t.Errorf("%s has no row in ARCHITECTURE.md", dir)
		}
	}
}

// TestEveryInnerPackageIsDescribed checks that the tables of the directories below
// internal and kernel are complete.
func TestEveryInnerPackageIsDescribed(t *testing.T) {
	text := sources.Read(t, "ARCHITECTURE.md")
	described := map[string]bool{}
	for line := range strings.Lines(text) {
		if first, _, ok := strings.Cut(strings.TrimPrefix(line, "|"), "|"); ok {
			for _, m := range code.FindAllStringSubmatch(first, -1) {
				described[m[1]] = true
			}
		}
	}
	for dir := range readSources(t) {
		for _, above := range []string{"internal/", "kernel/internal/", "kernel/"} {
			name, ok := strings.CutPrefix(dir, above)
			if !ok || above == "kernel/" && strings.HasPrefix(name, "internal/") {
				continue
			}
			if top, _, _ := strings.Cut(name, "/"); !described[name] && !described[top] {
				t.Errorf("ARCHITECTURE.md's tables say nothing of %s", dir)
			}
		}
	}
}

// TestNothingHappensByImport checks the rule that a program gets only the
// things it names: no init functions and no blank imports.
func TestNothingHappensByImport(t *testing.T) {
	for dir, s := range readSources(t) {
		for _, file := range s.inits {
			t.Errorf("%s: func init in package %s", file, dir)
		}
		for _, blank := range s.blanks {
			t.Errorf("%s: blank import", blank)
		}
	}
}

// TestReadingLinksNoRunning checks the purpose of the table: a program that
// only reads and writes checkpoints links no kernel, no op, no pictures and no
// network; one that inspects SavedModels links the parts of plans, but no
// kernel.
func TestReadingLinksNoRunning(t *testing.T) {
	sources := readSources(t)
	for root, never := range map[string][]string{
		"checkpoint": {"cmd/cairn/internal/plot", "engine", "ops", "grad", "kernel", "function", "keras", "dataset"},
		"savedmodel": {"cmd/cairn/internal/plot", "ops", "grad", "kernel", "function", "keras", "dataset"},
	} {
		seen := map[string]bool{}
		var visit func(dir string)
		visit = func(dir string) {
			if seen[dir] {
				return
			}
			seen[dir] = true
			for to, files := range sources[dir].imports {
				switch rel, own := strings.CutPrefix(to, module+"/"); {
				case own:
					visit(rel)
				case to == "net" || strings.HasPrefix(to, "net/") || to == "os/exec" || to == "C" || to == "plugin",
					to == "image" || strings.HasPrefix(to, "image/") || strings.HasPrefix(to, "golang.org/x/image/"):
					t.Errorf("%s reaches %s (%s)", root, to, files[0])
				}
			}
		}
		visit(root)
		for _, running := range never {
			if seen[running] {
				t.Errorf("%s links %s", root, running)
			}
		}
	}
}

// requirement is a line of go.mod's.
type requirement struct {
	module   string
	indirect bool
}

func requirements(t *testing.T) []requirement {
	t.Helper()
	mod := sources.Read(t, "go.mod")
	var list []requirement
	for line := range strings.Lines(mod) {
		line, comment, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "require "), "//")
		if f := strings.Fields(line); len(f) == 2 && strings.HasPrefix(f[1], "v") {
			list = append(list, requirement{f[0], strings.Contains(comment, "indirect")})
		}
	}
	if len(list) == 0 {
		t.Fatal("go.mod requires nothing: is its form another?")
	}
	return list
}

// TestLibrariesHaveReasons keeps the list of direct dependencies short and
// explained: RATIONALE.md names each.
func TestLibrariesHaveReasons(t *testing.T) {
	rationale := sources.Read(t, "RATIONALE.md")
	version := regexp.MustCompile(`/v\d+$`)
	for _, r := range requirements(t) {
		if name := path.Base(version.ReplaceAllString(r.module, "")); !r.indirect && !strings.Contains(rationale, name) {
			t.Errorf("RATIONALE.md gives no reason for %s", r.module)
		}
	}
}

// TestNoticeNamesEveryModule keeps the list of other people's licences whole.
func TestNoticeNamesEveryModule(t *testing.T) {
	notice := sources.Read(t, "NOTICE")
	for _, r := range requirements(t) {
		if !strings.Contains(notice, "  "+r.module+" ") {
			t.Errorf("NOTICE doesn't name %s and its licence", r.module)
		}
	}
}
