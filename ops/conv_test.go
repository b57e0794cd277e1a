package ops_test

import (
	"context"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
)

func imageCalls() map[string]call {
	conv := func(f func(s *ops.Scope, x, w ops.Input, o ...*ops.WindowOptions) *ops.Value, x, w string, o *ops.WindowOptions) call {
		return func(s *ops.Scope, in inputs) []*ops.Value { return values(f(s, in[x], in[w], o)) }
	}
	resize := func(h, w int, o *ops.ResizeOptions) call {
		return func(s *ops.Scope, in inputs) []*ops.Value { return values(ops.Resize(s, in["image"], h, w, o)) }
	}
	norm := func(mean, variance ops.Input, o *ops.BatchNormOptions) call {
		return func(s *ops.Scope, in inputs) []*ops.Value {
			y, m, v := ops.BatchNorm(s, in["image"], []float32{1, 2}, []float32{0.5, -1}, mean, variance, o)
			return values(y, m, v)
		}
	}
	return map[string]call{
		"Conv2D":          conv(ops.Conv2D, "image", "filter", &ops.WindowOptions{Strides: []int{2, 1}, Padding: ops.Same}),
		"Conv2D explicit": conv(ops.Conv2D, "image", "filter", &ops.WindowOptions{Explicit: [][2]int{{1, 0}, {0, 2}}}),
		"Conv2D first": func(s *ops.Scope, in inputs) []*ops.Value {
			x := ops.Transpose(s, in["image"], 0, 3, 1, 2)
			return values(ops.Conv2D(s, x, in["filter"], &ops.WindowOptions{Strides: []int{1, 2}, Format: ops.ChannelsFirst}))
		},
		"Conv2DTranspose": func(s *ops.Scope, in inputs) []*ops.Value {
			o := &ops.WindowOptions{Strides: []int{2}, Padding: ops.Same}
			return values(ops.Conv2DTranspose(s, []int32{1, 6, 7, 2}, in["filter"], in["up"], o))
		},
		"Convolution": func(s *ops.Scope, in inputs) (out []*ops.Value) {
			same, valid := ops.Same, ops.Valid
			ranks := map[string][]int{"image": {-1, -1, -1, -1}, "filter": {-1, -1, -1, -1}, "volume": {-1, -1, -1, -1, -1}, "volumefilter": {-1, -1, -1, -1, -1}}
			for name, dims := range ranks { // which a trace may not be told
				in[name] = ops.EnsureShape(s, in[name], dims...)
			}
			of := func(x, filter ops.Input, p ops.Padding, dilations ...int) {
				out = append(out, ops.Convolution(s, x, filter, &ops.WindowOptions{Padding: p, Dilations: dilations}))
			}
			of(in["image"], in["filter"], valid, 1)
			of(in["image"], in["filter"], same, 2)
			of(in["image"], in["filter"], valid, 1, 3)
			of(in["image"], in["filter"], same, 2, 3)
			lines, filter := ops.Squeeze(s, in["image"], 0), ops.SliceOf(s, in["filter"], []int{0, 0, 0, 0}, []int{1, -1, -1, -1})
			filter = ops.Squeeze(s, filter, 0)
			of(lines, filter, same)
			of(lines, filter, same, 2)
			of(lines, filter, valid, 3)
			of(in["volume"], in["volumefilter"], same, 2)
			of(in["volume"], in["volumefilter"], valid, 2, 1, 3)
			return out
		},
		"ConvolutionTranspose": func(s *ops.Scope, in inputs) []*ops.Value {
			filter, up := ops.EnsureShape(s, in["filter"], -1, -1, -1, -1), ops.EnsureShape(s, in["up"], -1, -1, -1, -1)
			lines, lineFilter := ops.Squeeze(s, up, 0), ops.Squeeze(s, ops.SliceOf(s, filter, []int{0, 0, 0, 0}, []int{1, -1, -1, -1}), 0)
			same := &ops.WindowOptions{Padding: ops.Same, Strides: []int{2}}
			return values(ops.ConvolutionTranspose(s, []int32{1, 7, 6, 2}, filter, up, &ops.WindowOptions{Dilations: []int{2}}),
				ops.ConvolutionTranspose(s, []int32{1, 3, 4, 2}, filter, up, &ops.WindowOptions{Dilations: []int{3}, Padding: ops.Same}),
				ops.ConvolutionTranspose(s, []int32{1, 6, 7, 2}, filter, up, same),
				ops.ConvolutionTranspose(s, []int32{3, 8, 2}, lineFilter, lines, same))
		},
		"DepthwiseConv2D": conv(ops.DepthwiseConv2D, "image", "depthwise", &ops.WindowOptions{Dilations: []int{2, 1}}),
		"Conv3D":          conv(ops.Conv3D, "volume", "volumefilter", &ops.WindowOptions{Strides: []int{1, 2, 1}}),
		"Conv3DTranspose": func(s *ops.Scope, in inputs) []*ops.Value {
			o := &ops.WindowOptions{Padding: ops.Same}
			y := ops.Conv3D(s, in["volume"], in["volumefilter"], o)
			return values(ops.Conv3DTranspose(s, []int32{1, 3, 4, 4, 1}, in["volumefilter"], y, o))
		},
		"MaxPool3D": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.MaxPool3D(s, in["volume"], []int{2}, &ops.WindowOptions{Strides: []int{1, 2, 1}, Padding: ops.Same}))
		},
		"AvgPool3D": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.AvgPool3D(s, in["volume"], []int{2}, &ops.WindowOptions{Strides: []int{1}, Padding: ops.Same}))
		},
		"MaxPool": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.MaxPool(s, in["image"], []int{2, 3}, &ops.WindowOptions{Padding: ops.Same}))
		},
		"AvgPool": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.AvgPool(s, in["image"], []int{3}, &ops.WindowOptions{Strides: []int{1}, Padding: ops.Same}))
		},
		"BatchNorm":          norm([]float32{0.1, 0.2}, []float32{1.5, 0.5}, nil),
		"BatchNorm training": norm(nil, nil, &ops.BatchNormOptions{Training: true, Epsilon: 0.01}),
		"BatchNorm momentum": norm([]float32{0.1, 0.2}, []float32{1.5, 0.5}, &ops.BatchNormOptions{Training: true, Epsilon: 0.01, Momentum: 0.75}),
		"Resize lanczos":     resize(4, 9, &ops.ResizeOptions{Method: ops.Lanczos3}),
		"ResizeTo": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.ResizeTo(s, in["image"], []int32{9, 3}, &ops.ResizeOptions{Method: ops.Gaussian}))
		},
		"Resize":         resize(4, 9, nil),
		"Resize nearest": resize(4, 9, &ops.ResizeOptions{Method: ops.Nearest}),
		"Resize bicubic": resize(9, 3, &ops.ResizeOptions{Method: ops.Bicubic}),
		"Resize legacy":  resize(4, 9, &ops.ResizeOptions{Legacy: true}),
		"Resize corners": resize(4, 9, &ops.ResizeOptions{Method: ops.Area, AlignCorners: true}),
		"Einsum": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.Einsum(s, "bhwc,hwco->bo", ops.SliceOf(s, in["image"], []int{0, 0, 0, 0}, []int{1, 3, 2, 2}), in["filter"]))
		},
	}
}

func TestWindowOptionsAreChecked(t *testing.T) {
	for name, o := range map[string]*ops.WindowOptions{
		"three strides":  {Strides: []int{1, 2, 3}},
		"three borders":  {Explicit: [][2]int{{1, 0}, {0, 0}, {0, 1}}},
		"a strange one":  {Padding: "FULL"},
		"a zero stride":  {Strides: []int{0}},
		"another layout": {Format: "HWCN"},
	} {
		s := function.Eager(context.Background())
		ops.MaxPool(s, [][][][]float32{{{{1}}}}, []int{1}, o)
		if s.Err() == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
