package composite

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// prepareParseDataset prepares the datasets of parsed examples: a function that
// parses, mapped over a dataset of serialized ones. The components are in the
// order of the features' keys. It is the kernel of ParseExampleDataset,
// ParseExampleDatasetV2 and ExperimentalParseExampleDataset. TensorFlow sorts
// the keys by bytes, too: the order must stay.
func prepareParseDataset(n *engine.Node) (func(*engine.Call) error, error) {
	return of(-1, func(b *body, in []graph.Output) []graph.Output {
		if len(in) < 2 {
			b.err = fmt.Errorf("takes a dataset, a number of calls and defaults, %d inputs were given", len(in))
			return nil
		}
		defaults := in[2:]
		types := []tensor.DType{}
		for _, o := range defaults {
			types = append(types, o.Fact().DType)
		}
		f, err := parseFunction(b.node, types)
		if err != nil {
			b.err = err
			return nil
		}
		attrs := append(b.attrs("output_types", "output_shapes"), graph.Func("f", f), graph.Types("Targuments", types...), graph.Bool("preserve_cardinality", true))
		return b.op("MapDataset", attrs, append([]graph.Output{in[0]}, defaults...)...)[:1]
	})(n)
}

// parseFunction returns the function of a dataset's node that parses a batch of
// examples with the defaults of the dense features.
func parseFunction(n *engine.Node, defaults []tensor.DType) (*graph.Function, error) {
	p := &body{node: n, f: graph.NewFunction("_parse")}
	var args []graph.Output
	for _, d := range append([]tensor.DType{tensor.String}, defaults...) {
		arg, err := p.f.AddArg("", graph.Fact{DType: d})
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
	}
	as := n.Attrs
	keys := map[string][]string{}
	in := []graph.Output{args[0], p.constant(tensor.Vector[string]())}
	for _, kind := range []string{"sparse", "dense", "ragged"} {
		keys[kind] = as.Strings(kind + "_keys")
		in = append(in, p.constant(tensor.Vector(keys[kind]...)))
	}
	sparse, dense, ragged := len(keys["sparse"]), len(keys["dense"]), len(keys["ragged"])
	if len(as.Types("sparse_types")) != sparse || len(defaults) != dense || len(as.Types("ragged_value_types")) != ragged || len(as.Types("ragged_split_types")) != ragged {
		return nil, fmt.Errorf("there are not as many keys as types")
	}
	attrs := append(p.attrs("sparse_types", "Tdense", "dense_shapes", "ragged_value_types", "ragged_split_types"), graph.Int("num_sparse", int64(sparse)))
	if !attrs.Has("ragged_value_types") {
		attrs = append(attrs, graph.Types("ragged_value_types"), graph.Types("ragged_split_types"))
	}
	parsed := p.op("ParseExampleV2", attrs, append(in, args[1:]...)...)
	if p.err != nil {
		return nil, p.err
	}
	type component struct {
		key string
		graph.Output
	}
	var all []component
	variants := graph.Type("out_type", tensor.Variant)
	for i, key := range keys["sparse"] {
		all = append(all, component{key, p.op("SerializeSparse", graph.Attrs{variants}, parsed[i], parsed[sparse+i], parsed[2*sparse+i])[0]})
	}
	at := 3 * sparse
	for i, key := range keys["dense"] {
		all = append(all, component{key, parsed[at+i]})
	}
	at += dense
	for i, key := range keys["ragged"] {
		parts := []graph.Output{parsed[at+ragged+i], parsed[at+i]}
		all = append(all, component{key, p.op("RaggedTensorToVariant", graph.Attrs{graph.Bool("batched_input", false), graph.Int("RAGGED_RANK", 1)}, parts...)[0]})
	}
	slices.SortStableFunc(all, func(a, b component) int {
		switch {
		case a.key < b.key:
			return -1
		case a.key > b.key:
			return 1
		}
		return 0
	})
	for _, c := range all {
		p.f.AddResult("", c.Output)
	}
	return p.f, p.err
}
