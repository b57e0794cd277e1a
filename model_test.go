package cairn_test

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/cairnml/cairn"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

//go:embed all:savedmodel/testdata/models/module
var embedded embed.FS

type features struct{ X *tensor.Tensor }

type result struct {
	Y   *tensor.Tensor
	Sum *tensor.Tensor `cairn:"total"`
}

// Example_load embeds a model and calls a signature with structs.
func Example_load() {
	ctx := context.Background()
	dir, err := fs.Sub(embedded, "savedmodel/testdata/models/module")
	if err != nil {
		panic(err)
	}
	model, err := cairn.Load(ctx, dir, nil)
	if err != nil {
		panic(err)
	}
	serve, err := cairn.Bind[features, result](model, "serving_default")
	if err != nil {
		panic(err)
	}
	got, err := serve(ctx, features{tensor.Must(tensor.New([]float32{1, 2, 3}, 1, 3))})
	if err != nil {
		panic(err)
	}
	fmt.Println(got.Y, got.Sum)
	// Output: [[11. 42. 93.]] 179700.0
}

func bindError[In, Out any](t *testing.T, m *run.Model, want string) {
	t.Helper()
	_, err := cairn.Bind[In, Out](m, "serving_default")
	var no *run.BindError
	if !errors.As(err, &no) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

func TestBindRefusesWhatDoesNotFit(t *testing.T) {
	dir, _ := fs.Sub(embedded, "savedmodel/testdata/models/module")
	m, err := cairn.Load(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	bindError[struct{}, result](t, m, `no field for the input "x"`)
	bindError[struct{ X, Z *tensor.Tensor }, result](t, m, `there is no input "z"`)
	bindError[struct{ X []float32 }, result](t, m, "not a *tensor.Tensor")
	bindError[features, struct{ Probs *tensor.Tensor }](t, m, `there is no output "probs"; there are "total", "y"`)
	bindError[features, int](t, m, "no struct")
	f, err := cairn.Bind[features, struct{}](m, "serving_default")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f(t.Context(), features{}); err == nil || !strings.Contains(err.Error(), `"x" is missing`) {
		t.Error(err)
	}
}
