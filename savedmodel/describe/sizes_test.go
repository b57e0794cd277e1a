package describe_test

import (
	"os"
	"strings"
	"testing"

	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/describe"
)

func TestSizesOfObjects(t *testing.T) {
	fsys := os.DirFS("../testdata/models/tables")
	m, err := savedmodel.Read(t.Context(), fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := describe.Sizes(t.Context(), fsys, m.MetaGraphs[0])
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]describe.ObjectSize{}
	var total int64
	for i, r := range rows {
		if i > 0 && r.Bytes > rows[i-1].Bytes {
			t.Errorf("%+v comes after %+v", r, rows[i-1])
		}
		by[r.Path+r.Note] = r
		total += r.Bytes
	}
	if v := by["v"]; v.Kind != "variable" || v.Bytes != 4 {
		t.Errorf("the variable is %+v", v)
	}
	if f := by["look"]; f.Kind != "function" || f.Bytes < 1000 || !strings.HasPrefix(f.Name, "__inference_look") {
		t.Errorf("the function is %+v", f)
	}
	saves := 0
	for _, r := range rows {
		if strings.HasPrefix(r.Note, "saves ") || strings.HasPrefix(r.Note, "restores ") {
			saves++
		}
	}
	if saves != 4 {
		t.Errorf("%d functions save or restore tables, want 4", saves)
	}
	info, err := os.Stat("../testdata/models/tables/saved_model.pb")
	if err != nil {
		t.Fatal(err)
	}
	if total < info.Size()/2 || total > 2*info.Size() {
		t.Errorf("%d bytes in all, of a file of %d", total, info.Size())
	}
}
