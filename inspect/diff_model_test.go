package inspect

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/vfs"
)

// TestModelsAreComparedByContent compares models that TensorFlow wrote and that differ
// in one way each.
func TestModelsAreComparedByContent(t *testing.T) {
	for name, want := range map[string][]string{
		"base":      nil,
		"again":     nil, // the same program, with other numbers in the names of functions
		"constant":  {"function __call__", "signature serving_default"},
		"asset":     {"asset words.txt"},
		"object":    {"graph extra", "only in B extra/.ATTRIBUTES/VARIABLE_VALUE"},
		"signature": {"signature look", "signature words"},
	} {
		c, err := Compare(t.Context(), "testdata/tf2.21/base", "testdata/tf2.21/"+name, &DiffOptions{Graph: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, d := range c.Differences {
			got = append(got, d.Kind+" "+d.Name)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q\n%v", name, got, want, c.Differences)
		}
		if len(c.NotCompared) == 0 || !strings.Contains(fmt.Sprint(c.NotCompared), "devices") {
			t.Errorf("%s: not compared: %q", name, c.NotCompared)
		}
	}
}

// TestDamagedObjectGraphsOfModelsAreErrors cuts off the object graph in the checkpoint of a model,
// which the values and the graphs don't need.
func TestDamagedObjectGraphsOfModelsAreErrors(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "model")
	if err := os.CopyFS(dir, os.DirFS("testdata/tf2.21/base")); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "variables", "variables.data-00000-of-00001")
	stat, err := os.Stat(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(data, stat.Size()-5); err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]string{{"testdata/tf2.21/base", dir}, {dir, "testdata/tf2.21/base"}} {
		if _, err := Compare(t.Context(), pair[0], pair[1], &DiffOptions{Graph: true}); err == nil || !strings.Contains(err.Error(), "the file ends here") {
			t.Errorf("%v: the error is %v", pair, err)
		}
	}
}

// TestARewrittenModelIsNoOther compares models of TensorFlow with a new save of the same
// objects: the main graph has other nodes there, which compute the same.
func TestARewrittenModelIsNoOther(t *testing.T) {
	ctx := t.Context()
	for _, name := range []string{"assets", "counter", "mlp", "slots", "table", "tables", "text", "unranked", "session", "tf1_control"} {
		from := filepath.Join("..", "savedmodel", "testdata", "models", name)
		m, err := savedmodel.Read(ctx, os.DirFS(from), nil)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := savedmodel.Rewrite(ctx, m, vfs.OSDir(dir), name, nil); err != nil {
			t.Fatal(err)
		}
		c, err := Compare(ctx, from, filepath.Join(dir, name), &DiffOptions{Graph: true})
		if err != nil || len(c.Differences) > 0 {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
}

// TestAssetsAreComparedInOrder: which of very many differences are listed doesn't change from run to run.
func TestAssetsAreComparedInOrder(t *testing.T) {
	one := func(n int) *model {
		g := &savedmodel.MetaGraph{}
		for i := range n {
			g.Assets = append(g.Assets, savedmodel.Asset{Name: fmt.Sprintf("%05d.txt", n-1-i)})
		}
		return &model{SavedModel: &savedmodel.SavedModel{MetaGraphs: []*savedmodel.MetaGraph{g}}, dir: fstest.MapFS{}}
	}
	d := &modelDiff{ctx: t.Context()}
	if err := d.assets(one(maxObjects+100), one(0)); err != nil {
		t.Fatal(err)
	}
	if d.more != 100 || d.out[0].Name != "00000.txt" || d.out[maxObjects-1].Name != "09999.txt" {
		t.Errorf("%d more than %s to %s", d.more, d.out[0].Name, d.out[len(d.out)-1].Name)
	}
}
