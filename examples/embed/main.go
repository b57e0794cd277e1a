// Command embed reads the digit on a PNG picture from standard input. The model
// is inside the program, which is one static file:
//
//	CGO_ENABLED=0 go build ./examples/embed && ./embed < examples/embed/three.png
//
// It also runs in a browser: GOOS=js GOARCH=wasm go build.
package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"

	"github.com/cairnml/cairn"
	"github.com/cairnml/cairn/tensor"
)

//go:embed all:model
var files embed.FS

// Image is the input of the signature; `cairn show --go` prints such types. The names of
// fields, or their tags, are those of the signature's inputs and outputs.
type Image struct {
	Image *tensor.Tensor // uint8 [?,?,?]
}

// Result is its output.
type Result struct {
	Probs *tensor.Tensor `cairn:"probabilities"` // float32 [10]
}

func main() {
	if err := run(context.Background(), os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run reads a picture from in and writes the probabilities of the ten digits to out.
func run(ctx context.Context, in io.Reader, out io.Writer) error {
	dir, err := fs.Sub(files, "model")
	if err != nil {
		return err
	}
	model, err := cairn.Load(ctx, dir, nil)
	if err != nil {
		return err
	}
	classify, err := cairn.Bind[Image, Result](model, "serving_default")
	if err != nil {
		return err
	}
	img, err := cairn.DecodePNG(in)
	if err != nil {
		return err
	}
	got, err := classify(ctx, Image{img})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%.4f\n", tensor.Values[float32](got.Probs))
	return err
}
