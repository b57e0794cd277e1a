package convert

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

// TestPatternsThatMatchNothingAreErrors checks every kind of pattern, and that nothing
// is written.
func TestPatternsThatMatchNothingAreErrors(t *testing.T) {
	src, dst := fixtures+"guide/ckpt-1", filepath.Join(t.TempDir(), "new")
	good, bad := regexp.MustCompile("kernel"), regexp.MustCompile("net/l1/kernle$")
	for want, e := range map[string]Edits{
		"Drop net/l1/kernle$":   {Drop: []*regexp.Regexp{good, bad}},
		"Cast net/l1/kernle$":   {Cast: []Cast{{Match: good, To: tensor.Float64}, {Match: bad, To: tensor.Float64}}},
		"Rename net/l1/kernle$": {Rename: []Rename{{Match: bad, With: "x"}}},
	} {
		for _, to := range []string{dst, ""} {
			_, _, err := Edit(t.Context(), src, to, e, nil)
			var p *PatternError
			if !errors.As(err, &p) || !slices.Equal(p.Patterns, []string{want}) || !slices.Contains(p.Nearest, "net/l1/kernel") {
				t.Errorf("%s to %q: %v", want, to, err)
			}
		}
	}
	if left, err := os.ReadDir(filepath.Dir(dst)); err != nil || len(left) > 0 {
		t.Errorf("%v was written (%v)", left, err)
	}
}
