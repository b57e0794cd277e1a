package hdf5

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestAllGroupsShareOneLimit: a File keeps the links of the groups that were read, and their memory
// together is bounded, since many headers may share one table of links.
func TestAllGroupsShareOneLimit(t *testing.T) {
	const groups, names = 8, 50
	var w Writer
	for g := range groups {
		for n := range names {
			if _, err := w.Root().Group(fmt.Sprintf("%d/%d", g, n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	var b bytes.Buffer
	if err := w.Write(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	f, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len()), nil)
	if err != nil {
		t.Fatal(err)
	}
	f.kept = &meter{10_000, 10_000} // the root and two of the groups
	read := 0
	for g := range groups {
		child, err := f.Root().Group(fmt.Sprint(g))
		if err != nil {
			t.Fatal(err)
		}
		_, err = child.Links()
		_, again := child.Links()
		var limit *LimitError
		switch {
		case err == nil && again == nil:
			read++
		case !errors.As(err, &limit) || !errors.As(again, &limit):
			t.Errorf("group %d: %v, then %v", g, err, again)
		}
	}
	if read != 2 {
		t.Errorf("%d groups were read, want 2", read)
	}
}
