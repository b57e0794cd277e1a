package bundle

import (
	"context"
	"io/fs"
	"os"
	"testing"
	"testing/fstest"
)

// A TF1 Saver with sharded=True names its checkpoint, in the state file and to
// its caller, by a pattern of the files.
func TestShardedV1IsFoundByItsPattern(t *testing.T) {
	src := os.DirFS("testdata/tf2.21/v1_sharded")
	fsys := fstest.MapFS{
		"checkpoint": {Data: []byte("model_checkpoint_path: \"ckpt-?????-of-00002\"\nall_model_checkpoint_paths: \"ckpt-?????-of-00002\"\n")},
	}
	for _, name := range []string{"ckpt-00000-of-00002", "ckpt-00001-of-00002"} {
		b, err := fs.ReadFile(src, name)
		if err != nil {
			t.Fatal(err)
		}
		fsys[name] = &fstest.MapFile{Data: b}
	}
	ctx := context.Background()
	want, err := Open(ctx, fsys, "ckpt", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	for _, name := range []string{".", "checkpoint", "ckpt-?????-of-00002", "ckpt"} {
		found, err := FindPrefix(fsys, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r, err := Open(ctx, fsys, found.Prefix, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := r.Len(); got != want.Len() || got == 0 {
			t.Errorf("%s: %d tensors, want %d", name, got, want.Len())
		}
		r.Close()
	}
}
