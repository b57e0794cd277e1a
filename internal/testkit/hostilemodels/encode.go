// Package hostilemodels makes SavedModels that never arise by accident: deep, wide,
// damaged, and with ops that ask for huge results. Tests of cmd/cairn
// and savedmodel/run load, call and print them.
//
// The numbers of fields are those of TensorFlow's .proto files. They are written out
// here, because package pb can't write broken messages.
package hostilemodels

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// message is an encoded message that grows field by field. Its functions know no types.
type message []byte

// text adds a string, bytes or message.
func (m message) text(field protowire.Number, s string) message {
	return protowire.AppendString(protowire.AppendTag(m, field, protowire.BytesType), s)
}

// sub adds a message.
func (m message) sub(field protowire.Number, s message) message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), s)
}

// number adds an integer.
func (m message) number(field protowire.Number, v int64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), uint64(v))
}

// entry adds an entry of a map from strings to messages.
func (m message) entry(field protowire.Number, key string, value message) message {
	return m.sub(field, message(nil).text(1, key).sub(2, value))
}

// The numbers of element types, as in TensorFlow's DataType.
const (
	float   = 1
	integer = 3
	str     = 7
	long    = 9
	boolean = 10
	variant = 21
)

// The functions whose names end in Attr make an AttrValue.

func typeAttr(t int64) message { return message(nil).number(6, t) }
func intAttr(v int64) message  { return message(nil).number(3, v) }
func boolAttr(v bool) message {
	if v {
		return message(nil).number(5, 1)
	}
	return message(nil).number(5, 0)
}
func textAttr(s string) message       { return message(nil).text(2, s) }
func funcAttr(name string) message    { return message(nil).sub(10, message(nil).text(1, name)) }
func tensorAttr(t message) message    { return message(nil).sub(8, t) }
func shapeAttr(dims ...int64) message { return message(nil).sub(7, shape(dims...)) }

func typesAttr(types ...int64) message {
	var l message
	for _, t := range types {
		l = l.number(6, t)
	}
	return message(nil).sub(1, l)
}

func intsAttr(v ...int64) message {
	var l message
	for _, n := range v {
		l = l.number(3, n)
	}
	return message(nil).sub(1, l)
}

func shapesAttr(n int) message {
	var l message
	for range n {
		l = l.sub(7, message(nil).number(3, 1))
	}
	return message(nil).sub(1, l)
}

// shape makes a TensorShapeProto.
func shape(dims ...int64) message {
	var s message
	for _, d := range dims {
		s = s.sub(2, message(nil).number(1, d))
	}
	return s
}

// attr is an attribute of a node.
type attr struct {
	name  string
	value message
}

// node makes a NodeDef.
func node(name, op string, in []string, attrs ...attr) message {
	m := message(nil).text(1, name).text(2, op)
	for _, s := range in {
		m = m.text(3, s)
	}
	for _, a := range attrs {
		m = m.entry(5, a.name, a.value)
	}
	return m
}

// constant makes a node of the TensorProto value.
func constant(name string, t int64, value message) message {
	return node(name, "Const", nil, attr{"dtype", typeAttr(t)}, attr{"value", tensorAttr(value)})
}

// longs makes a constant vector; scalar makes one without dimensions.
func longs(name string, v ...int64) message {
	t := message(nil).number(1, long).sub(2, shape(int64(len(v))))
	for _, n := range v {
		t = t.number(10, n)
	}
	return constant(name, long, t)
}

func scalar(name string, v int64) message {
	return constant(name, long, message(nil).number(1, long).sub(2, message{}).number(10, v))
}

func ints(name string, v ...int64) message {
	t := message(nil).number(1, integer).sub(2, shape(int64(len(v))))
	for _, n := range v {
		t = t.number(7, n)
	}
	return constant(name, integer, t)
}

func intScalar(name string, v int64) message {
	return constant(name, integer, message(nil).number(1, integer).sub(2, message{}).number(7, v))
}

func texts(name string, v ...string) message {
	t := message(nil).number(1, str).sub(2, shape(int64(len(v))))
	for _, s := range v {
		t = t.text(8, s)
	}
	return constant(name, str, t)
}

// function makes a FunctionDef of one argument "a" and one result, both of a type.
func function(name string, t int64, result string, nodes ...message) message {
	f := message(nil).sub(1, message(nil).text(1, name).sub(2, message(nil).text(1, "a").number(3, t)).sub(3, message(nil).text(1, "r").number(3, t)))
	for _, n := range nodes {
		f = f.sub(3, n)
	}
	return f.sub(4, message(nil).text(1, "r").text(2, result))
}

// call makes a node that calls a function of one argument.
func call(name, in, f string, t int64) message {
	return node(name, "PartitionedCall", []string{in}, attr{"Tin", typesAttr(t)}, attr{"Tout", typesAttr(t)}, attr{"f", funcAttr(f)})
}

// graph holds the parts of a model.
type graph struct {
	nodes     []message // NodeDefs, without the placeholder x
	functions []message // FunctionDefs
	output    string    // the signature's result; "" means y:0
	outType   int64     // its element type; 0 means float
	objects   message   // the object graph; empty means none
	meta      message   // further fields of the MetaGraph
}

func (g *graph) add(n ...message) { g.nodes = append(g.nodes, n...) }

// info makes the TensorInfo of a tensor of unknown rank.
func info(name string, t int64) message {
	return message(nil).text(1, name).number(2, t).sub(3, message(nil).number(3, 1))
}

// model encodes a SavedModel with one signature, from x to y.
func (g *graph) model() []byte {
	var def message
	def = def.sub(1, node("x", "Placeholder", nil, attr{"dtype", typeAttr(float)}, attr{"shape", message(nil).sub(7, message(nil).number(3, 1))}))
	for _, n := range g.nodes {
		def = def.sub(1, n)
	}
	if len(g.functions) > 0 {
		var library message
		for _, f := range g.functions {
			library = library.sub(1, f)
		}
		def = def.sub(2, library)
	}
	def = def.sub(4, message(nil).number(1, 1395))
	meta := message(nil).sub(1, message(nil).text(4, "serve")).sub(2, def)
	output, t := g.output, g.outType
	if output == "" {
		output = "y:0"
	}
	if t == 0 {
		t = float
	}
	meta = meta.entry(5, "serving_default", message(nil).entry(1, "x", info("x:0", float)).entry(2, "y", info(output, t)).text(3, "tensorflow/serving/predict"))
	if len(g.objects) > 0 {
		meta = meta.sub(7, g.objects)
	}
	meta = append(meta, g.meta...)
	return message(nil).number(1, 1).sub(2, meta)
}
