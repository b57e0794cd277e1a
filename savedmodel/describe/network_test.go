package describe

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel"
)

func TestPicturesShowTheNetwork(t *testing.T) {
	for _, test := range []struct{ model, signature, want string }{
		{"keras_mlp", "", "hidden_input () -> hidden (Dense) float32 [?,4]\nhidden (Dense) -> probabilities (Dense) float32 [?,5]\nprobabilities (Dense) -> probabilities () float32 [?,2]\n"},
		{"module", "", "x () -> mul (Mul) float32 [?,3]\nmul (Mul) -> add (AddV2) float32 [?,3]\nadd (AddV2) -> y () float32 [?,3]\n"},
		{"tf1_init", "", "words () -> LookupTableFindV2 () string [?]\nLookupTableFindV2 () -> ids () int64 [?]\n"},
	} {
		fsys := os.DirFS("../testdata/models/" + test.model)
		m, err := savedmodel.Read(context.Background(), fsys, nil)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Describe(context.Background(), fsys, m, kernel.All())
		if err != nil {
			t.Fatal(err)
		}
		n, err := d.MetaGraphs[0].Network(test.signature)
		if err != nil {
			t.Fatal(test.model, err)
		}
		if got := networkText(n); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.model, got, test.want)
		}
	}
}

// networkText writes a network a line an arrow.
func networkText(n *render.Network) string {
	var b strings.Builder
	for _, a := range n.Arrows {
		b.WriteString(n.Boxes[a.From].Name + " (" + n.Boxes[a.From].Info + ") -> " + n.Boxes[a.To].Name + " (" + n.Boxes[a.To].Info + ") " + a.Label + "\n")
	}
	return b.String()
}

func TestEverySignatureHasANetwork(t *testing.T) {
	dirs, err := os.ReadDir("../testdata/models")
	if err != nil {
		t.Fatal(err)
	}
	drawn := 0
	for _, dir := range dirs {
		fsys := os.DirFS("../testdata/models/" + dir.Name())
		m, err := savedmodel.Read(context.Background(), fsys, nil)
		if err != nil {
			continue // a directory of several models
		}
		d, err := Describe(context.Background(), fsys, m, kernel.All())
		if err != nil {
			t.Fatal(dir.Name(), err)
		}
		for _, g := range d.MetaGraphs {
			for _, s := range g.Signatures {
				n, err := g.Network(s.Name)
				if err != nil {
					t.Errorf("%s, %s: %v", dir.Name(), s.Name, err)
					continue
				}
				drawn++
				for _, b := range n.Boxes {
					for _, hidden := range []string{"SaveV2", "RestoreV2", "ShardedFilename", "VarHandleOp", "Const"} {
						if b.Info == hidden {
							t.Errorf("%s, %s: a box of %s", dir.Name(), s.Name, hidden)
						}
					}
				}
			}
		}
		if len(d.MetaGraphs[0].Signatures) == 0 {
			if _, err := d.MetaGraphs[0].Network(""); err == nil || !strings.Contains(err.Error(), "no signature") {
				t.Errorf("%s: %v", dir.Name(), err)
			}
		}
	}
	if drawn < 40 {
		t.Errorf("only %d networks", drawn)
	}
}
