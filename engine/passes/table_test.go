package passes_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/engine/passes"
)

// tableRow is a row of the table in doc.go.
type tableRow struct{ name, list, bits string }

// tableOfPasses reads the rows from the package comment.
func tableOfPasses(t *testing.T) (rows []tableRow) {
	t.Helper()
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	gap := regexp.MustCompile(` {2,}`)
	inside := false
	for line := range strings.Lines(string(text)) {
		line, indented := strings.CutPrefix(strings.TrimRight(line, "\n"), "//\t")
		switch {
		case !indented:
			inside = false
		case strings.HasPrefix(line, "Pass "):
			inside = true
		case inside && !strings.HasPrefix(line, " "):
			cells := gap.Split(line, -1)
			if len(cells) != 5 {
				t.Fatalf("row %q: %d columns, want 5", line, len(cells))
			}
			rows = append(rows, tableRow{cells[0], cells[1], cells[2]})
		}
	}
	return rows
}

// TestTheTableListsThePasses compares the table of the package comment with the
// lists: names, order, and which passes change rounding.
func TestTheTableListsThePasses(t *testing.T) {
	rows := tableOfPasses(t)
	for list, registered := range map[string][]passes.Pass{"default": passes.Default(), "inference": passes.Inference()} {
		var want, got []tableRow
		for _, p := range registered {
			bits := "stay"
			if p.ChangesRounding {
				bits = "round"
			}
			want = append(want, tableRow{name: p.Name, bits: bits})
		}
		for _, r := range rows {
			if r.list == list || r.list == "both" {
				got = append(got, tableRow{name: r.name, bits: r.bits})
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the table has\n%v\nthe list\n%v", list, got, want)
		}
	}
	for _, r := range rows {
		if !slices.Contains([]string{"default", "inference", "both"}, r.list) {
			t.Errorf("%s: list %q, want default, inference or both", r.name, r.list)
		}
	}
}

// TestDefaultPassesKeepBits checks the promise of Default.
func TestDefaultPassesKeepBits(t *testing.T) {
	for _, p := range passes.Default() {
		if p.ChangesRounding {
			t.Errorf("%s changes rounding", p.Name)
		}
	}
}

// TestWithoutRemovesByName checks that Without keeps the order and the original list.
func TestWithoutRemovesByName(t *testing.T) {
	all := passes.Default()
	left := passes.Without(all, "inlining", "no-ops", "unknown")
	if len(left) != len(all)-2 || len(passes.Default()) != len(all) {
		t.Errorf("%d passes left of %d, want 2 fewer", len(left), len(all))
	}
	for _, p := range left {
		if p.Name == "inlining" || p.Name == "no-ops" {
			t.Errorf("%s is still there", p.Name)
		}
	}
	if none := passes.Without(all[:1], "inlining"); none == nil {
		t.Error("an empty list is nil, which means the default passes")
	}
}
