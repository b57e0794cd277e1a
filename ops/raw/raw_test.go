package raw_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
)

func ExampleCumprod() {
	s := function.Eager(context.Background())
	y := raw.Cumprod(s, ops.Const(s, []float64{1, 2, 3}), ops.Const(s, 0), &raw.CumprodOptions{Reverse: true})
	fmt.Println(y, s.Err())
	// Output: [6. 6. 3.] <nil>
}

func ExampleSet() {
	s := function.Eager(context.Background())
	x := ops.Const(s, []float64{-1, 1})
	fmt.Println(raw.LeakyRelu(s, x, nil), raw.LeakyRelu(s, x, &raw.LeakyReluOptions{Alpha: raw.Set(0.5)}))
	// Output: [-0.2  1. ] [-0.5  1. ]
}

// TestEveryKernelHasAFunction holds the generated files to the kernels.
func TestEveryKernelHasAFunction(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				have[fn.Name.Name] = true
			}
		}
	}
	for k := range kernel.All().All() {
		if d := k.Definition(); d != nil && token.IsExported(k.Op) && !have[k.Op] {
			t.Errorf("%s has a kernel and no function; run go generate ./ops/raw", k.Op)
		}
	}
}

func TestFunctionsEmitTheirOps(t *testing.T) {
	s := function.Eager(context.Background())
	x := ops.Const(s, [][]float32{{1, 2}, {3, 4}})
	parts := raw.Split(s, ops.Const(s, 1), x, 2)
	joined := raw.ConcatV2(s, []ops.Input{parts[1], parts[0]}, ops.Const(s, 1))
	values, indices := raw.TopKV2(s, joined, ops.Const(s, 1), nil)
	product := raw.MatMul(s, x, x, &raw.MatMulOptions{TransposeB: true})
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(values, indices, product), "[[2.]\n [4.]] [[0]\n [0]] [[ 5. 11.]\n [11. 25.]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
