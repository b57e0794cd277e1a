package savedmodel_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cairnml/cairn/savedmodel"
)

// TestAFileSystemThatIsNilIsAnError has every function that reads a model from one.
func TestAFileSystemThatIsNilIsAnError(t *testing.T) {
	for name, read := range map[string]func(ctx context.Context) error{
		"Read":         func(ctx context.Context) error { _, err := savedmodel.Read(ctx, nil, nil); return err },
		"ReadGraphDef": func(ctx context.Context) error { _, err := savedmodel.ReadGraphDef(ctx, nil, "x.pb", nil); return err },
		"text": func(ctx context.Context) error {
			_, err := savedmodel.ReadGraphDef(ctx, nil, "x.pbtxt", nil)
			return err
		},
		"Restore": func(ctx context.Context) error { _, err := savedmodel.Restore(ctx, nil, nil); return err },
	} {
		if err := read(t.Context()); err == nil || !strings.Contains(err.Error(), "the file system is nil") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
