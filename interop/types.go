package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

// registration contains the types that one of TensorFlow's kernels takes, by the
// attribute that names them.
type registration map[string][]string

// typeCases compares the element types that the kernels declare with those of
// TensorFlow's CPU kernels. A kernel here may take more.
func typeCases(ctx context.Context, r *run) {
	theirs, err := r.kernelTypes(ctx)
	if err != nil {
		r.result("element types", wrongs(err), "")
		return
	}
	same, excused := 0, map[string]bool{}
	for k := range kernel.All().All() {
		if theirs[k.Op] == nil || !r.match.MatchString(k.Op) {
			continue
		}
		var wrong []string
		for _, t := range refused(k, theirs[k.Op]) {
			if why := excuse(k.Op, t); why == "" {
				wrong = append(wrong, "TensorFlow takes "+t)
			} else {
				excused[k.Op+" with "+t+": "+why] = true
			}
		}
		if wrong == nil {
			same++
			continue
		}
		r.result("element types of "+k.Op, wrong, "")
	}
	for _, line := range slices.Sorted(maps.Keys(excused)) {
		fmt.Fprintln(r.out, "     refused by choice: "+line)
	}
	r.result("element types", nil, fmt.Sprintf("%d ops take what TensorFlow's CPU kernels take, %d combinations are refused by choice", same, len(excused)))
}

// kernelTypes returns the registrations of TensorFlow's CPU kernels by op.
func (r *run) kernelTypes(ctx context.Context) (map[string][]registration, error) {
	path := r.ours("types", "kernels.json")
	out, err := exec.CommandContext(ctx, r.python, "interop/peer/kernel_types.py", path).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	all := map[string][]registration{}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("TensorFlow lists no kernels")
	}
	return all, nil
}

// refused lists the types that registrations take and a kernel doesn't declare,
// as "T = float32".
func refused(k *engine.Kernel, theirs []registration) []string {
	var out []string
	for _, reg := range theirs {
		for attr, types := range reg {
			known, declared := k.Types[attr]
			if !declared {
				continue
			}
			for _, name := range types {
				d, err := tensor.ParseDType(name)
				if err != nil {
					out = append(out, attr+" = "+name)
					continue
				}
				if def := k.Definition().Attr(attr); def != nil && def.AllowedTypes != nil && !slices.Contains(def.AllowedTypes, d) {
					continue // nodes can't have it
				}
				if !slices.Contains(known, d) {
					out = append(out, attr+" = "+name)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// typeExceptions are types that TensorFlow's kernels are registered for, and ours
// leave out, with the reason. An op ending in "*" is a prefix of several.
var typeExceptions = []struct{ ops, types, why string }{
	{"_FusedConv2D _FusedDepthwiseConv2dNative _FusedMatMul", "T = float16, T = bfloat16, T = float64, T = int8, T = qint8", "it stands in no model: passes make it, of the types that its parts have fast kernels for"},
	{"ClipByValue", "T = complex64, T = complex128", "complex numbers have no order"},
	{"Conj", "T = variant", "the variants are sparse matrices in compressed rows, which only ops of their own take here"},
	{"QuantizedConv2D", "Tfilter = qint8", "it is oneDNN's kernel, which asks for constant filters"},
	{"Requantize", "out_type = qint8", "it is a kernel for what oneDNN's convolutions give"},
}

// excuse returns the reason why a kernel leaves a type out; "" if it should
// take it.
func excuse(op, t string) string {
	for _, e := range typeExceptions {
		for _, pattern := range strings.Fields(e.ops) {
			prefix, open := strings.CutSuffix(pattern, "*")
			if (op == pattern || open && strings.HasPrefix(op, prefix)) && slices.Contains(strings.Split(e.types, ", "), t) {
				return e.why
			}
		}
	}
	return ""
}
