package imports

import (
	"go/ast"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/sources"
)

// helpers are the internal packages that keras uses, and why a framework in another module
// misses nothing by not having them: none knows objects, functions or models.
var helpers = map[string]string{
	"internal/limit":       "what reading a file may cost",
	"internal/nearest":     "similar names, for errors",
	"internal/numpyrand":   "numpy's random numbers",
	"internal/philox":      "TensorFlow's random numbers",
	"internal/tensorproto": "values in TensorBoard's event files",
	"internal/tfrecord":    "the records of event files",
	"internal/zipfile":     "zip archives, for errors",
}

// TestKerasUsesExportedNames checks that keras uses only names available to any
// framework: of savedmodel, function, trackable and all others it uses the exported
// names, not the doors by which packages of this module reach into each other
// ("savedmodel.Internal"). A framework in another module can do all that keras does.
func TestKerasUsesExportedNames(t *testing.T) {
	used := map[string]bool{}
	for dir, s := range readSources(t) {
		if dir != "keras" && !strings.HasPrefix(dir, "keras/") {
			continue
		}
		for to, files := range s.imports {
			rel, own := strings.CutPrefix(to, module+"/")
			if !own || !slices.Contains(strings.Split(rel, "/"), "internal") || strings.HasPrefix(rel, "keras/") {
				continue
			}
			used[rel] = true
			if _, ok := helpers[rel]; !ok {
				t.Errorf("%s imports %s, which is internal and knows more than numbers and texts", files[0], rel)
			}
		}
	}
	for name := range helpers {
		if !used[name] {
			t.Errorf("keras imports %s no longer; remove it from the list", name)
		}
	}
	for _, f := range sources.Go(t, sources.NotTest) {
		if !f.Below("keras") {
			continue
		}
		ast.Inspect(f.Syntax(t), func(n ast.Node) bool {
			if x, ok := n.(*ast.SelectorExpr); ok && x.Sel.Name == "Internal" {
				t.Errorf("%s uses a door for packages of this module", sources.Position(x))
			}
			return true
		})
	}
}
