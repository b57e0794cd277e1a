package checkpoint

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// TestLongRowsAreMatchedAsShortOnes checks that a long row of variables shared by
// workers has the same result as one matched one by one.
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

	// Mismatches are reported in order, and nothing is changed.
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

// TestLongListsAreBoundAsShortOnes checks lists in the program's order and in another
// one, with an element twice, nil or elsewhere too, and with other elements in the
// file.
func TestLongListsAreBoundAsShortOnes(t *testing.T) {
	const n = longList + 33
	type model struct {
		First *trackable.Variable
		Row   []*trackable.Variable
		More  []*trackable.Variable
		Last  *trackable.Variable
	}
	made := func(sign float32) *model {
		m := &model{First: variable(sign * 1)}
		for i := range n {
			m.Row = append(m.Row, variable(sign*float32(10+i)))
			m.More = append(m.More, variable(sign*float32(1_000_000+i)))
		}
		m.Last = variable(sign * 2)
		return m
	}
	for _, c := range []struct {
		name   string
		change func(m *model)
	}{
		{name: "as they are", change: func(*model) {}},
		{name: "made in another order", change: func(m *model) {
			slices.Reverse(m.Row)
			m.More[5], m.More[6] = m.More[6], m.More[5]
		}},
		{name: "both lists' variables made in turn", change: func(m *model) { m.Row, m.More = m.More, m.Row }},
	} {
		dir := vfs.MemDir()
		saved := made(1)
		if err := newCheckpoint(t, saved, nil).WriteTo(ctx, dir, "ck"); err != nil {
			t.Fatal(err)
		}
		m := made(-1)
		c.change(m)
		ck := newCheckpoint(t, m, nil)
		report, err := ck.ReadFS(ctx, dir, "ck", nil)
		if err == nil {
			err = report.AssertConsumed()
		}
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for i := range n {
			if got := tensor.Values[float32](m.Row[i].Load())[0]; got != float32(10+i) {
				t.Fatalf("%s: row %d is %v", c.name, i, got)
			}
			if got := tensor.Values[float32](m.More[i].Load())[0]; got != float32(1_000_000+i) {
				t.Fatalf("%s: more %d is %v", c.name, i, got)
			}
		}
		if len(report.Restored()) != 2*n+2 {
			t.Fatalf("%s: %d values are restored", c.name, len(report.Restored()))
		}
		// A list that has changed since isn't all there.
		m.Row[n/2] = variable(7)
		if err := report.AssertConsumed(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("row.%d ", n/2)) {
			t.Errorf("%s: after another element came: %v", c.name, err)
		}
	}

	dir := vfs.MemDir()
	if err := newCheckpoint(t, made(1), nil).WriteTo(ctx, dir, "ck"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(m *model)
		want   string // of the error
	}{
		{"an element is missing", func(m *model) { m.Row[9] = nil }, "row.9"},
		{"the list is longer", func(m *model) { m.Row = append(m.Row, variable(1)) }, fmt.Sprintf("row.%d", n)},
		{"the list is shorter", func(m *model) { m.Row = m.Row[:n-1] }, ""}, // more may come
		{"the same list twice", func(m *model) { m.More = m.Row }, ""},
		{"an element twice", func(m *model) { m.Row[100] = m.Row[99] }, ""},
		{"an element elsewhere before", func(m *model) { m.First = m.Row[n-1] }, ""},
		{"an element elsewhere behind", func(m *model) { m.Last = m.Row[3] }, ""},
	} {
		m := made(-1)
		c.change(m)
		_, err := newCheckpoint(t, m, nil).ReadFS(ctx, dir, "ck", nil)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.want != "" {
			continue
		}
		// An object that is two nodes has the first one's value; "more" comes before "row".
		want := float32(109)
		if &m.Row[0] == &m.More[0] {
			want = 1_000_099
		}
		if got := tensor.Values[float32](m.Row[99].Load())[0]; got != want {
			t.Errorf("%s: row 99 is %v", c.name, got)
		}
	}
}
