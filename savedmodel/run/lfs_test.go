package run_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/internal/gitlfs"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel/run"
)

// TestErrorsNamePointersOfGitLFS: a repository that was cloned without Git LFS has small
// texts in place of its large files.
func TestErrorsNamePointersOfGitLFS(t *testing.T) {
	pointer := []byte("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n")
	for _, name := range []string{"saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001"} {
		dir := files(t, "keras_mlp")
		if dir[name] == nil {
			t.Fatal(name)
		}
		dir[name] = &fstest.MapFile{Data: pointer}
		_, err := run.Load(ctx, dir, &run.LoadOptions{Kernels: kernel.All()})
		if !errors.Is(err, gitlfs.ErrPointer) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "git lfs pull") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
