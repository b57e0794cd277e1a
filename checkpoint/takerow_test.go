package checkpoint

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// TestLongRowsAreMatchedAsShortOnes: workers share a long row of variables, and what
// comes of it is what comes of it one by one.
func TestLongRowsAreMatchedAsShortOnes(t *testing.T) {
	const n = 3*rowBatch + 17
	type part struct{ W, B *trackable.Variable }
	type model struct {
		Head part
		Row  []*trackable.Variable
		Tail part
	}
	made := func(sign float32) *model {
		m := &model{Head: part{variable(sign * 1), variable(sign * 2)}, Tail: part{variable(sign * 3), variable(sign * 4)}}
		for i := range n {
			m.Row = append(m.Row, variable(sign*float32(10+i)))
		}
		return m
	}
	dir := vfs.MemDir()
	if err := newCheckpoint(t, made(1), nil).WriteTo(ctx, dir, "ck"); err != nil {
		t.Fatal(err)
	}
	m := made(-1)
	fresh := new(trackable.Variable) // without a value
	m.Row[rowBatch+5] = fresh
	report, err := newCheckpoint(t, m, nil).ReadFS(ctx, dir, "ck", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.AssertConsumed(); err != nil {
		t.Error(err)
	}
	for i, v := range m.Row {
		if got := tensor.Values[float32](v.Load()); len(got) != 1 || got[0] != float32(10+i) {
			t.Fatalf("variable %d is %v", i, got)
		}
	}
	wantFloats(t, m.Tail.B, 4)
	if len(report.Restored()) != n+4 {
		t.Fatalf("%d values are restored", len(report.Restored()))
	}
	for i, it := range report.Restored()[2 : 2+n] {
		if want := fmt.Sprintf("row.%d", i); it.Path != want || it.Key != fmt.Sprintf("row/%d/.ATTRIBUTES/VARIABLE_VALUE", i) {
			t.Fatalf("value %d of the report is %s of %s, want %s", i, it.Path, it.Key, want)
		}
	}

	// What doesn't fit is told in order, and nothing is changed.
	m = made(-1)
	wrong := []int{0, 3, rowBatch, 2 * rowBatch, n - 1}
	for _, i := range wrong {
		m.Row[i] = trackable.NewVariable(tensor.Vector[float32](1, 2, 3))
	}
	m.Row[7].TrackableNode().Attach("more", variable(0))
	_, err = newCheckpoint(t, m, nil).ReadFS(ctx, dir, "ck", nil)
	var refused *RestoreError
	if !errors.As(err, &refused) || len(refused.Mismatched) != len(wrong) || len(refused.Missing) != 1 || refused.Missing[0].Path != "row.7.more" {
		t.Fatalf("error %v", err)
	}
	for k, i := range wrong {
		if want := fmt.Sprintf("row.%d", i); refused.Mismatched[k].Path != want {
			t.Errorf("mismatch %d is %s, want %s", k, refused.Mismatched[k].Path, want)
		}
	}
	wantFloats(t, m.Row[1], -11)
}
