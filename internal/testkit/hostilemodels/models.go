package hostilemodels

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// Model is a SavedModel: the contents of its only file, saved_model.pb. Its signature
// serving_default maps x, a float tensor, to y.
type Model struct {
	Name string // for the tests' lists of exceptions, which must be changed with it
	Make func() []byte
}

// All returns the models. The large ones are as deep and wide as a file of some tens of
// megabytes can be; without them each takes milliseconds to write.
func All(large bool) []Model {
	all := Deep(1000)
	if large {
		for _, m := range Deep(100_000) {
			m.Name += ", large"
			all = append(all, m)
		}
		all = append(all,
			Model{"300,000 Negs in a chain", func() []byte { return chain("Neg", 300_000) }},
			Model{"1,000,000 Identities in a chain", func() []byte { return chain("Identity", 1_000_000) }},
			Model{"300,000 datasets in a chain", func() []byte { return datasets(300_000) }},
			Model{"200,000 nested objects", func() []byte { return nestedObjects(200_000) }},
			Model{"5,000,000 empty nodes", func() []byte { return emptyParts(5_000_000) }},
		)
	}
	return append(append(append(all, loops()...), sizes()...), damaged()...)
}

func attrT(t int64) attr { return attr{"T", typeAttr(t)} }

// chain makes a model of n nodes of one op, each after the other.
func chain(op string, n int) []byte {
	var g graph
	in := "x"
	for i := range n {
		name := fmt.Sprint("n", i)
		g.add(node(name, op, []string{in}, attrT(float)))
		in = name
	}
	g.output = in + ":0"
	return g.model()
}

// calls makes a model of functions that call each other in a chain, each the next one
// several times.
func calls(depth, times int) []byte {
	var g graph
	g.functions = append(g.functions, function("f0", float, "n:y:0", node("n", "Neg", []string{"a"}, attrT(float))))
	for i := 1; i < depth; i++ {
		var nodes []message
		in := "a"
		for k := range times {
			name := fmt.Sprint("c", k)
			nodes = append(nodes, call(name, in, fmt.Sprint("f", i-1), float))
			in = name + ":output:0"
		}
		g.functions = append(g.functions, function(fmt.Sprint("f", i), float, in, nodes...))
	}
	g.add(call("y", "x", fmt.Sprint("f", depth-1), float))
	return g.model()
}

var (
	outTypes  = attr{"output_types", typesAttr(long)}
	outShapes = attr{"output_shapes", shapesAttr(1)}
)

// numbersFrom adds a dataset "range" of the numbers from zero up to to, without it.
func numbersFrom(g *graph, to int64) {
	g.add(scalar("zero", 0), scalar("one", 1), scalar("to", to), node("range", "RangeDataset", []string{"zero", "to", "one"}, outTypes, outShapes))
}

// datasets makes a model of n RepeatDatasets in a chain. An element is taken from the last.
func datasets(n int) []byte {
	var g graph
	numbersFrom(&g, 10)
	in := "range"
	for i := range n {
		name := fmt.Sprint("d", i)
		g.add(node(name, "RepeatDataset", []string{in, "one"}, outTypes, outShapes))
		in = name
	}
	g.add(node("y", "DatasetToSingleElement", []string{in}, outTypes, outShapes))
	g.outType = long
	return g.model()
}

// nestedObjects makes a model with a chain of objects.
func nestedObjects(n int) []byte {
	var g graph
	g.add(node("y", "Neg", []string{"x"}, attrT(float)))
	for i := range n {
		var o message
		if i+1 < n {
			o = o.sub(1, message(nil).number(1, int64(i+1)).text(2, "o"))
		}
		g.objects = g.objects.sub(1, o.sub(4, message(nil).text(1, "_generic_user_object")))
	}
	return g.model()
}

// emptyParts makes a model of n nodes without any field.
func emptyParts(n int) []byte {
	def := message(bytes.Repeat([]byte{1<<3 | 2, 0}, n))
	return message(nil).number(1, 1).sub(2, message(nil).sub(1, message(nil).text(4, "serve")).sub(2, def))
}

// nested returns a message that is n levels deep: each has the next one as its only field,
// of that number, and the last one has inner.
func nested(n int, number byte, inner []byte) []byte {
	// Lengths grow from the inside to the outside, so each level is written once, backwards.
	out := make([]byte, 0, 6*n+len(inner))
	for i := len(inner) - 1; i >= 0; i-- {
		out = append(out, inner[i])
	}
	for range n {
		size := len(out)
		var b []byte
		for v := size; ; v >>= 7 {
			if v < 0x80 {
				b = append(b, byte(v))
				break
			}
			b = append(b, byte(v)|0x80)
		}
		for i := len(b) - 1; i >= 0; i-- {
			out = append(out, b[i])
		}
		out = append(out, number<<3|2)
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// Deep returns models of n parts that are nested or chained.
func Deep(n int) []Model {
	neg := func() *graph {
		g := new(graph)
		g.add(node("y", "Neg", []string{"x"}, attrT(float)))
		return g
	}
	list := []Model{
		{"a chain of Identities", func() []byte { return chain("Identity", n) }},
		{"a chain of Negs", func() []byte { return chain("Neg", n) }},
		{"a chain of OnesLike", func() []byte { return chain("OnesLike", n) }},
		{"functions that call each other", func() []byte { return calls(n, 1) }},
		{"a chain of datasets", func() []byte { return datasets(n) }},
		{"a chain of objects", func() []byte { return nestedObjects(n) }},
		{"empty nodes", func() []byte { return emptyParts(n) }},
		{"MetaGraphs", func() []byte {
			one := neg().model()[2:]
			return append([]byte{8, 1}, bytes.Repeat(one, min(n, 20_000))...)
		}},
		{"signatures", func() []byte {
			g := neg()
			s := message(nil).entry(1, "x", info("x:0", float)).entry(2, "y", info("y:0", float))
			for i := range n {
				g.meta = g.meta.entry(5, fmt.Sprint("s", i), s)
			}
			return g.model()
		}},
		{"outputs of a signature", func() []byte {
			g := neg()
			var s message
			for i := range n {
				s = s.entry(2, fmt.Sprint("y", i), info("y:0", float))
			}
			g.meta = g.meta.entry(5, "wide", s)
			return g.model()
		}},
		{"functions", func() []byte {
			g := neg()
			for i := range n {
				g.functions = append(g.functions, function(fmt.Sprint("f", i), float, "n:y:0", node("n", "Neg", []string{"a"}, attrT(float))))
			}
			return g.model()
		}},
		{"children of an object", func() []byte {
			g := neg()
			var o message
			for i := range n {
				o = o.sub(1, message(nil).number(1, int64(i%2)).text(2, fmt.Sprint("c", i)))
			}
			g.objects = message(nil).sub(1, o.sub(4, message(nil).text(1, "_generic_user_object"))).sub(1, message(nil).sub(4, message(nil).text(1, "_generic_user_object")))
			return g.model()
		}},
		{"children of each other", func() []byte {
			g := neg()
			k := min(n, 400)
			for range k {
				var o message
				for i := range k {
					o = o.sub(1, message(nil).number(1, int64(i)).text(2, fmt.Sprint("c", i)))
				}
				g.objects = g.objects.sub(1, o.sub(4, message(nil).text(1, "_generic_user_object")))
			}
			return g.model()
		}},
		{"control inputs of every node", func() []byte {
			g := new(graph)
			k := min(n, 1500)
			for i := range k {
				in := []string{"x"}
				for j := range i {
					in = append(in, fmt.Sprint("^n", j))
				}
				g.add(node(fmt.Sprint("n", i), "Neg", in, attrT(float)))
			}
			g.output = fmt.Sprintf("n%d:0", k-1)
			return g.model()
		}},
		{"a sum of many", func() []byte {
			g := new(graph)
			in := make([]string, n)
			for i := range in {
				in[i] = "x"
			}
			g.add(node("y", "AddN", in, attr{"N", intAttr(int64(n))}, attrT(float)))
			return g.model()
		}},
		{"many outputs of nodes", func() []byte {
			g := neg()
			for i := range min(n, 5000) {
				g.add(node(fmt.Sprint("u", i), "Unpack", []string{"x"}, attr{"num", intAttr(65_000)}, attrT(float), attr{"axis", intAttr(0)}))
			}
			return g.model()
		}},
		{"long names", func() []byte {
			g := neg()
			for i := range min(n, 100) {
				g.add(node(fmt.Sprint(strings.Repeat("n/", n), i), "Neg", []string{"x"}, attrT(float)))
			}
			return g.model()
		}},
		{"attributes of a node", func() []byte {
			g := new(graph)
			attrs := []attr{attrT(float)}
			for i := range n {
				attrs = append(attrs, attr{fmt.Sprint("_a", i), intAttr(1)})
			}
			g.add(node("y", "Neg", []string{"x"}, attrs...))
			return g.model()
		}},
		{"a nest of messages in an attribute", func() []byte {
			g := new(graph)
			// A function attribute holds attributes that hold functions.
			inner := nested(3*n, 10, nil)
			g.add(node("y", "Neg", []string{"x"}, attrT(float), attr{"_f", inner}))
			return g.model()
		}},
		{"a nest of structured values", func() []byte {
			g := neg()
			// A list of a list of a list.
			value := nested(n, 51, nil)
			spec := message(nil).sub(1, message(value))
			f := message(nil).sub(6, message(nil).sub(2, spec))
			g.objects = message(nil).sub(1, f)
			return g.model()
		}},
		{"nested ifs", func() []byte {
			g := new(graph)
			g.functions = append(g.functions, function("f0", float, "n:y:0", node("n", "Neg", []string{"a"}, attrT(float))))
			for i := 1; i < n; i++ {
				f := fmt.Sprint("f", i-1)
				g.functions = append(g.functions, function(fmt.Sprint("f", i), float, "i:output:0",
					node("c", "Const", nil, attr{"dtype", typeAttr(boolean)}, attr{"value", tensorAttr(message(nil).number(1, boolean).sub(2, message{}).number(11, 1))}),
					node("i", "If", []string{"c:output:0", "a"}, attr{"Tcond", typeAttr(boolean)}, attr{"Tin", typesAttr(float)}, attr{"Tout", typesAttr(float)}, attr{"then_branch", funcAttr(f)}, attr{"else_branch", funcAttr(f)})))
			}
			g.add(call("y", "x", fmt.Sprint("f", n-1), float))
			return g.model()
		}},
		{"a chain of lists in lists", func() []byte { return lists(n, 1) }},
		{"a chain of Packs", func() []byte {
			g := new(graph)
			in := "x"
			for i := range n {
				name := fmt.Sprint("p", i)
				g.add(node(name, "Pack", []string{in}, attr{"N", intAttr(1)}, attrT(float), attr{"axis", intAttr(0)}))
				in = name
			}
			g.output = in + ":0"
			return g.model()
		}},
		{"a chain of ExpandDims", func() []byte {
			g := new(graph)
			g.add(intScalar("zero", 0))
			in := "x"
			for i := range n {
				name := fmt.Sprint("p", i)
				g.add(node(name, "ExpandDims", []string{in, "zero"}, attrT(float), attr{"Tdim", typeAttr(integer)}))
				in = name
			}
			g.output = in + ":0"
			return g.model()
		}},
	}
	return list
}

// lists makes a model of lists in lists. Each list is pushed several times into the next
// one, so that the model has diamonds if times is more than 1.
func lists(n, times int) []byte {
	var g graph
	g.add(ints("shape"), intScalar("most", -1), intScalar("unknown", -1))
	empty := func(name string, t int64) message {
		return node(name, "EmptyTensorList", []string{"unknown", "most"}, attr{"element_dtype", typeAttr(t)}, attr{"shape_type", typeAttr(integer)})
	}
	g.add(empty("l", float))
	in := "l"
	for i := range n {
		e := fmt.Sprint("e", i)
		g.add(empty(e, variant))
		for k := range times {
			name := fmt.Sprintf("p%d_%d", i, k)
			g.add(node(name, "TensorListPushBack", []string{e, in}, attr{"element_dtype", typeAttr(variant)}))
			e = name
		}
		in = e
	}
	g.add(node("y", "TensorListLength", []string{in}))
	g.outType = integer
	return g.model()
}

// loops returns models whose calls run without end, or for a very long time. A context must
// be able to end each.
func loops() []Model {
	while := func(cond, body message) []byte {
		var g graph
		g.functions = append(g.functions, cond, body)
		g.add(node("y", "While", []string{"x"}, attr{"T", typesAttr(float)}, attr{"cond", funcAttr("c")}, attr{"body", funcAttr("b")}))
		return g.model()
	}
	truth := node("t", "Const", nil, attr{"dtype", typeAttr(boolean)}, attr{"value", tensorAttr(message(nil).number(1, boolean).sub(2, message{}).number(11, 1))})
	cond := message(nil).sub(1, message(nil).text(1, "c").sub(2, message(nil).text(1, "a").number(3, float)).sub(3, message(nil).text(1, "r").number(3, boolean))).sub(3, truth).sub(4, message(nil).text(1, "r").text(2, "t:output:0"))
	endless := func(name string, build func(g *graph) string) Model {
		return Model{name, func() []byte {
			var g graph
			numbersFrom(&g, math.MaxInt64)
			in := build(&g)
			g.add(node("y", "DatasetToSingleElement", []string{in}, outTypes, outShapes))
			g.outType = long
			return g.model()
		}}
	}
	data := func(g *graph, name, op string, in []string, more ...attr) string {
		g.add(node(name, op, in, append([]attr{outTypes, outShapes}, more...)...))
		return name
	}
	list := []Model{
		{"a loop with an empty body", func() []byte { return while(cond, function("b", float, "a")) }},
		{"a loop that negates", func() []byte {
			return while(cond, function("b", float, "n:y:0", node("n", "Neg", []string{"a"}, attrT(float))))
		}},
		{"a loop that grows", func() []byte {
			return while(cond, function("b", float, "n:output:0", node("z", "Const", nil, attr{"dtype", typeAttr(integer)}, attr{"value", tensorAttr(message(nil).number(1, integer).sub(2, message{}).number(7, 0))}),
				node("n", "ConcatV2", []string{"a", "a", "z:output:0"}, attr{"N", intAttr(2)}, attrT(float), attr{"Tidx", typeAttr(integer)})))
		}},
		{"a loop of texts", func() []byte {
			var g graph
			text := func(name string) message { return message(nil).text(1, name).number(3, str) }
			c := message(nil).sub(1, message(nil).text(1, "c").sub(2, text("a")).sub(3, message(nil).text(1, "r").number(3, boolean))).sub(3, truth).sub(4, message(nil).text(1, "r").text(2, "t:output:0"))
			g.functions = append(g.functions, c, function("b", str, "n:output:0", node("n", "StringJoin", []string{"a", "a"}, attr{"N", intAttr(2)}, attr{"separator", textAttr("")})))
			g.add(texts("s", "0123456789"), node("y", "While", []string{"s"}, attr{"T", typesAttr(str)}, attr{"cond", funcAttr("c")}, attr{"body", funcAttr("b")}))
			g.outType = str
			return g.model()
		}},
		{"a loop of lists", func() []byte {
			var g graph
			c := message(nil).sub(1, message(nil).text(1, "c").sub(2, message(nil).text(1, "a").number(3, variant)).sub(3, message(nil).text(1, "r").number(3, boolean))).sub(3, truth).sub(4, message(nil).text(1, "r").text(2, "t:output:0"))
			item := node("i", "Const", nil, attr{"dtype", typeAttr(float)}, attr{"value", tensorAttr(message(nil).number(1, float).sub(2, shape(1000)).number(5, 0))})
			push := node("n", "TensorListPushBack", []string{"a", "z:y:0"}, attr{"element_dtype", typeAttr(float)})
			g.functions = append(g.functions, c, function("b", variant, "n:output_handle:0", item, node("z", "Neg", []string{"i:output:0"}, attrT(float)), push))
			g.add(intScalar("most", -1), intScalar("unknown", -1), node("l", "EmptyTensorList", []string{"unknown", "most"}, attr{"element_dtype", typeAttr(float)}, attr{"shape_type", typeAttr(integer)}),
				node("w", "While", []string{"l"}, attr{"T", typesAttr(variant)}, attr{"cond", funcAttr("c")}, attr{"body", funcAttr("b")}),
				node("y", "TensorListLength", []string{"w"}))
			g.outType = integer
			return g.model()
		}},
		{"a loop without variables", func() []byte {
			var g graph
			c := message(nil).sub(1, message(nil).text(1, "c").sub(3, message(nil).text(1, "r").number(3, boolean))).sub(3, truth).sub(4, message(nil).text(1, "r").text(2, "t:output:0"))
			b := message(nil).sub(1, message(nil).text(1, "b"))
			g.functions = append(g.functions, c, b)
			g.add(node("w", "While", nil, attr{"T", typesAttr()}, attr{"cond", funcAttr("c")}, attr{"body", funcAttr("b")}), node("y", "Neg", []string{"x", "^w"}, attrT(float)))
			return g.model()
		}},
		{"a function that calls itself", func() []byte {
			var g graph
			g.functions = append(g.functions, function("f", float, "c:output:0", call("c", "a", "f", float)))
			g.add(call("y", "x", "f", float))
			return g.model()
		}},
		{"a function that calls itself twice", func() []byte {
			var g graph
			g.functions = append(g.functions, function("f", float, "d:output:0", call("c", "a", "f", float), call("d", "c:output:0", "f", float)))
			g.add(call("y", "x", "f", float))
			return g.model()
		}},
		{"64 functions that call each other twice", func() []byte { return calls(64, 2) }},
		{"30 functions that call each other ten times", func() []byte { return calls(30, 10) }},
		{"64 doublings of a list", func() []byte { return lists(64, 2) }},
		{"64 doublings of a tensor", func() []byte {
			var g graph
			g.add(intScalar("zero", 0))
			in := "x"
			for i := range 64 {
				name := fmt.Sprint("n", i)
				g.add(node(name, "ConcatV2", []string{in, in, "zero"}, attr{"N", intAttr(2)}, attrT(float), attr{"Tidx", typeAttr(integer)}))
				in = name
			}
			g.output = in + ":0"
			return g.model()
		}},
		{"64 doublings of a text", func() []byte {
			var g graph
			g.add(texts("s", "0123456789"))
			in := "s"
			for i := range 64 {
				name := fmt.Sprint("n", i)
				g.add(node(name, "StringJoin", []string{in, in}, attr{"N", intAttr(2)}, attr{"separator", textAttr("")}))
				in = name
			}
			g.output, g.outType = in+":0", str
			return g.model()
		}},
		{"nodes that need each other", func() []byte {
			var g graph
			g.add(node("y", "Neg", []string{"z"}, attrT(float)), node("z", "Neg", []string{"y"}, attrT(float)))
			return g.model()
		}},
		endless("a dataset that skips all", func(g *graph) string { return data(g, "s", "SkipDataset", []string{"range", "to"}) }),
		endless("a dataset that shuffles all", func(g *graph) string {
			return data(g, "s", "ShuffleDataset", []string{"range", "to", "zero", "zero"})
		}),
		endless("a dataset that batches all", func(g *graph) string { return data(g, "s", "BatchDataset", []string{"range", "to"}) }),
		endless("a dataset that caches all", func(g *graph) string {
			g.add(constant("name", str, message(nil).number(1, str).sub(2, message{}).text(8, "")))
			c := data(g, "c", "CacheDataset", []string{"range", "name"})
			return data(g, "s", "SkipDataset", []string{c, "to"})
		}),
		endless("a dataset that repeats nothing", func(g *graph) string {
			g.add(scalar("ever", -1))
			t := data(g, "t", "TakeDataset", []string{"range", "zero"})
			return data(g, "s", "RepeatDataset", []string{t, "ever"})
		}),
		endless("a dataset that prefetches all", func(g *graph) string {
			s := data(g, "p", "PrefetchDataset", []string{"range", "to"})
			return data(g, "s", "SkipDataset", []string{s, "to"})
		}),
	}
	return list
}

// sizes returns models whose ops ask for huge results, or for much memory and time on the way.
func sizes() []Model {
	var list []Model
	one := func(name, op string, t int64, in []string, attrs []attr, more ...message) {
		list = append(list, Model{name, func() []byte {
			var g graph
			g.add(more...)
			g.add(node("y", op, in, attrs...))
			g.outType = t
			return g.model()
		}})
	}
	for _, n := range []int64{1 << 31, 1 << 40, 1 << 62, math.MaxInt64, -1, math.MinInt64} {
		of := fmt.Sprintf(" of %d", n)
		one("Fill"+of, "Fill", float, []string{"s", "x"}, []attr{attrT(float), {"index_type", typeAttr(long)}}, longs("s", n))
		one("Fill of no elements"+of, "Fill", float, []string{"s", "x"}, []attr{attrT(float), {"index_type", typeAttr(long)}}, longs("s", n, 0))
		one("LinSpace"+of, "LinSpace", float, []string{"x", "x", "n"}, []attr{attrT(float), {"Tidx", typeAttr(long)}}, scalar("n", n))
		one("OneHot"+of, "OneHot", float, []string{"n", "i", "x", "x"}, []attr{attrT(float), {"TI", typeAttr(long)}, {"axis", intAttr(-1)}}, scalar("n", 1), intScalar("i", n))
		one("Range"+of, "Range", long, []string{"a", "n", "b"}, []attr{{"Tidx", typeAttr(long)}}, scalar("n", n), scalar("a", 0), scalar("b", 1))
		one("Tile"+of, "Tile", float, []string{"x", "n"}, []attr{attrT(float), {"Tmultiples", typeAttr(long)}}, longs("n", n))
		one("BroadcastTo"+of, "BroadcastTo", float, []string{"x", "n"}, []attr{attrT(float), {"Tidx", typeAttr(long)}}, longs("n", n))
		one("Reshape"+of, "Reshape", float, []string{"x", "n"}, []attr{attrT(float), {"Tshape", typeAttr(long)}}, longs("n", n, n))
		one("ScatterNd"+of, "ScatterNd", float, []string{"i", "x", "n"}, []attr{attrT(float), {"Tindices", typeAttr(long)}}, longs("i", 0), longs("n", n))
		one("RandomUniform"+of, "RandomUniform", float, []string{"n"}, []attr{{"dtype", typeAttr(float)}, attrT(long)}, longs("n", n))
		one("UnsortedSegmentSum"+of, "UnsortedSegmentSum", float, []string{"x", "i", "n"}, []attr{attrT(float), {"Tindices", typeAttr(long)}, {"Tnumsegments", typeAttr(long)}}, longs("i", 0), scalar("n", n))
		one("SparseToDense"+of, "SparseToDense", float, []string{"i", "n", "x", "x"}, []attr{attrT(float), {"Tindices", typeAttr(long)}}, longs("i", 0), longs("n", n))
		one("Pad"+of, "PadV2", float, []string{"x", "p", "x"}, []attr{attrT(float), {"Tpaddings", typeAttr(long)}}, node("p", "Reshape", []string{"q", "s"}, attrT(long), attr{"Tshape", typeAttr(long)}), longs("q", n, n), longs("s", 1, 2))
		one("Bincount"+of, "Bincount", float, []string{"i", "n", "w"}, []attr{attrT(float)}, ints("i", 1), intScalar("n", int64(int32(n))), constant("w", float, message(nil).number(1, float).sub(2, shape(0))))
		one("a list reserved"+of, "TensorListLength", integer, []string{"l"}, nil, intScalar("u", -1), intScalar("n", int64(int32(n))), node("l", "TensorListReserve", []string{"u", "n"}, attr{"element_dtype", typeAttr(float)}, attr{"shape_type", typeAttr(integer)}))
		list = append(list, Model{"a constant" + of, func() []byte {
			var g graph
			g.add(constant("y", float, message(nil).number(1, float).sub(2, shape(n)).number(5, 0)))
			return g.model()
		}}, Model{"a placeholder" + of, func() []byte {
			var g graph
			g.add(node("p", "Placeholder", nil, attr{"dtype", typeAttr(float)}, attr{"shape", shapeAttr(n, n, n)}), node("y", "Neg", []string{"p"}, attrT(float)))
			return g.model()
		}})
	}
	for _, side := range []int64{1 << 14, 1 << 20, 1<<31 - 1} {
		of := fmt.Sprintf(" to %d", side)
		for _, op := range []string{"ResizeBilinear", "ResizeBicubic", "ResizeArea", "ResizeNearestNeighbor"} {
			one(op+of, op, float, []string{"i", "s"}, []attr{attrT(float)}, longs("d", 1, 1, 1, 1), node("i", "Reshape", []string{"x", "d"}, attrT(float), attr{"Tshape", typeAttr(long)}), ints("s", side, side))
		}
		image := []message{longs("d", 1, 1, 1, 1), node("i", "Reshape", []string{"x", "d"}, attrT(float), attr{"Tshape", typeAttr(long)})}
		pads := attr{"explicit_paddings", intsAttr(0, 0, side, side, side, side, 0, 0)}
		one("a convolution padded"+of, "Conv2D", float, []string{"i", "i"}, []attr{attrT(float), {"strides", intsAttr(1, 1, 1, 1)}, {"padding", textAttr("EXPLICIT")}, pads}, image...)
		one("a pooling of windows"+of, "MaxPool", float, []string{"i"}, []attr{attrT(float), {"ksize", intsAttr(1, side, side, 1)}, {"strides", intsAttr(1, 1, 1, 1)}, {"padding", textAttr("SAME")}}, image...)
		one("a dilation"+of, "Dilation2D", float, []string{"i", "x"}, []attr{attrT(float), {"strides", intsAttr(1, 1, 1, 1)}, {"rates", intsAttr(1, side, side, 1)}, {"padding", textAttr("SAME")}}, image...)
	}
	one("a zlib stream of zeros", "DecodeCompressed", str, []string{"s"}, []attr{{"compression_type", textAttr("ZLIB")}}, texts("s", zeros(200<<20)))
	one("many zlib streams", "DecodeCompressed", str, []string{"s"}, []attr{{"compression_type", textAttr("ZLIB")}}, texts("s", repeated(zeros(50<<20), 100)...))
	one("a regular expression of many states", "StaticRegexReplace", str, []string{"s"}, []attr{{"pattern", textAttr("(a{1000}|b{1000}|(a|b)*c){1}")}, {"rewrite", textAttr("x")}, {"replace_global", boolAttr(true)}}, texts("s", strings.Repeat("ab", 1<<20)))
	one("long texts in capitals", "StringUpper", str, []string{"s"}, []attr{{"encoding", textAttr("utf-8")}}, texts("s", strings.Repeat("é", 8<<20)))
	return list
}

// repeated returns s n times.
func repeated(s string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = s
	}
	return list
}

// zeros returns a zlib stream of n zeros.
func zeros(n int) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	zero := make([]byte, 1<<20)
	for at := 0; at < n; at += len(zero) {
		_, _ = w.Write(zero)
	}
	_ = w.Close()
	return b.String()
}

// damaged returns models of which some bytes are others, or missing. They are the same in
// each run.
func damaged() []Model {
	whole := calls(4, 2)
	var list []Model
	for i := range 100 {
		list = append(list, Model{fmt.Sprintf("damaged %d", i), func() []byte {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			b := bytes.Clone(whole)
			switch i % 4 {
			case 0:
				return b[:r.IntN(len(b))]
			case 1:
				at := r.IntN(len(b))
				return append(b[:at:at], b[min(len(b), at+1+r.IntN(20)):]...)
			case 2:
				for range 1 + r.IntN(5) {
					b[r.IntN(len(b))] = byte(r.IntN(256))
				}
			default:
				at := r.IntN(len(b))
				return append(append(b[:at:at], b[r.IntN(len(b)):]...), b[at:]...)
			}
			return b
		}})
	}
	return list
}
