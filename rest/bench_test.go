package rest

import (
	"io"
	"strings"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

func BenchmarkPredict(b *testing.B) {
	x := tensor.Must(tensor.Zeros(tensor.Float32, 64, 224*224))
	for i, v := 0, tensor.Values[float32](x); i < len(v); i++ {
		v[i] = float32(i%1000) / 997
	}
	var text strings.Builder
	if err := WritePredictRequest(&text, "", Rows, map[string]*tensor.Tensor{"x": x}, nil); err != nil {
		b.Fatal(err)
	}
	doc := []byte(text.String())
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		for b.Loop() {
			r, err := ParseRequest(doc)
			if err == nil {
				_, err = r.Tensors([]Spec{spec("x", tensor.Float32)})
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("write", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		for b.Loop() {
			if err := WritePredictResponse(io.Discard, Rows, map[string]*tensor.Tensor{"x": x}, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
