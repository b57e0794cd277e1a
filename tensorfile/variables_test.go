package tensorfile

import (
	"os"
	"testing"
)

// TestVariablesOfKeras3ExportsHaveNames checks a model whose tensors are numbered.
func TestVariablesOfKeras3ExportsHaveNames(t *testing.T) {
	const dir = "../inspect/testdata/tf2.21/"
	for _, o := range []struct {
		path string
		opts *Options
	}{{dir + "keras3_export", nil}, {"keras3_export", &Options{FS: os.DirFS(dir)}}} {
		s, err := Open(t.Context(), o.path, o.opts)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		names := s.VariableNames(t.Context())
		for key, want := range map[string]string{
			"variables/0" + ValueSuffix: "sequential/dense/kernel", "variables/1" + ValueSuffix: "sequential/dense/bias",
			"variables/8" + ValueSuffix: "sequential/dense_1/bias", "_all_variables/0" + ValueSuffix: "",
		} {
			if names[key] != want {
				t.Errorf("%s is called %q, want %q", key, names[key], want)
			}
		}
		for _, name := range []string{"sequential/dense/kernel", "sequential/dense/kernel:0", "variables/0"} {
			if e, _, err := s.Find(t.Context(), name+"[0,:]"); err != nil || e.Name != "variables/0"+ValueSuffix {
				t.Errorf("%s is %s, %v", name, e.Name, err)
			}
		}
		if list, err := s.Filter(t.Context(), []string{"dense_1"}); err != nil || list.Len() != 2 {
			t.Errorf("dense_1 is in %d names, %v", list.Len(), err)
		}
		if list, err := s.Select(t.Context(), []string{"*/kernel"}); err != nil || len(list) != 2 {
			t.Errorf("*/kernel matches %d names, %v", len(list), err)
		}
	}
	other, err := Open(t.Context(), fixtures+"guide", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if names := other.VariableNames(t.Context()); len(names) > 0 {
		t.Errorf("a checkpoint: %v", names)
	}
}
