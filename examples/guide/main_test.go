package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/layers"
)

var lossLine = regexp.MustCompile(`^loss (\d+\.\d\d)$`)

// TestGuidePrintsItsLines runs the program twice in one directory: the second
// run resumes after the first one, as the guide shows.
func TestGuidePrintsItsLines(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "tf_ckpts")
	var losses []float64
	for run := range 2 {
		var out bytes.Buffer
		net := &Net{L1: &layers.Dense{Units: 5, KernelInitializer: initializers.GlorotUniform{Seed: new(1)}}}
		if err := train(ctx, &out, dir, net); err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if m := lossLine.FindStringSubmatch(line); m != nil {
				l, err := strconv.ParseFloat(m[1], 64)
				if err != nil {
					t.Fatal(err)
				}
				losses = append(losses, l)
				line = "loss"
			}
			got = append(got, strings.ReplaceAll(line, dir, "DIR"))
		}
		want := []string{"Initializing from scratch."}
		if run == 1 {
			want = []string{"Restored from DIR/ckpt-5"}
		}
		for i := 5*run + 1; i <= 5*run+5; i++ {
			want = append(want, fmt.Sprintf("Saved checkpoint for step %d: DIR/ckpt-%d", 10*i, i), "loss")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("run %d prints (-want +got):\n%s", run+1, diff)
		}
	}
	// It learns, across the restart too.
	if len(losses) != 10 || losses[4] > losses[0]/2 || losses[9] > losses[4] || losses[9] > 2 {
		t.Errorf("losses %v", losses)
	}

	r, err := bundle.OpenFile(ctx, filepath.Join(dir, "ckpt-10"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got []string
	for e := range r.Entries() {
		got = append(got, fmt.Sprint(e.Name, " ", e.Shape))
	}
	slices.Sort(got)
	if diff := cmp.Diff(guideListing, got); diff != "" {
		t.Errorf("entries (-guide +got):\n%s", diff)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*.index"))
	if err != nil || len(left) != 3 {
		t.Errorf("%d checkpoints are left (%v), the guide keeps 3", len(left), err)
	}
}

// guideListing is the output of tf.train.list_variables in the guide.
var guideListing = []string{
	"_CHECKPOINTABLE_OBJECT_GRAPH []",
	"net/l1/bias/.ATTRIBUTES/VARIABLE_VALUE [5]",
	"net/l1/bias/.OPTIMIZER_SLOT/optimizer/m/.ATTRIBUTES/VARIABLE_VALUE [5]",
	"net/l1/bias/.OPTIMIZER_SLOT/optimizer/v/.ATTRIBUTES/VARIABLE_VALUE [5]",
	"net/l1/kernel/.ATTRIBUTES/VARIABLE_VALUE [1,5]",
	"net/l1/kernel/.OPTIMIZER_SLOT/optimizer/m/.ATTRIBUTES/VARIABLE_VALUE [1,5]",
	"net/l1/kernel/.OPTIMIZER_SLOT/optimizer/v/.ATTRIBUTES/VARIABLE_VALUE [1,5]",
	"optimizer/beta_1/.ATTRIBUTES/VARIABLE_VALUE []",
	"optimizer/beta_2/.ATTRIBUTES/VARIABLE_VALUE []",
	"optimizer/decay/.ATTRIBUTES/VARIABLE_VALUE []",
	"optimizer/iter/.ATTRIBUTES/VARIABLE_VALUE []",
	"optimizer/learning_rate/.ATTRIBUTES/VARIABLE_VALUE []",
	"save_counter/.ATTRIBUTES/VARIABLE_VALUE []",
	"step/.ATTRIBUTES/VARIABLE_VALUE []",
}
