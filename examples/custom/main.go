// Custom saves and loads objects of a registered class, whose structure has changed
// since its first version: the example of the RFC "Building Custom SavedModels".
//
// Names of the class, of edges and of metadata are in saved files, so a program that has
// saved some must keep them.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// metadata is the part of an object that isn't in edges, saved as JSON.
type metadata struct {
	Name string `json:"name"`
}

// Custom is the second version of the class.
type Custom struct {
	trackable.Base
	Name string                                 `cairn:"-"`
	Var1 *trackable.Variable                    `cairn:"var_1"`
	Var2 *trackable.Variable                    `cairn:"var_2"`
	Call *function.Func[*ops.Value, *ops.Value] // edge "call"
}

// NewCustom returns an object with the values that a new one has.
func NewCustom(name string) *Custom {
	c := &Custom{Name: name, Var1: trackable.NewVariable(tensor.Scalar[float32](0)), Var2: trackable.NewVariable(tensor.Scalar[float32](1))}
	c.Call = function.New(c.call)
	return c
}

// call returns x·Var1 + Var2.
func (c *Custom) call(s *ops.Scope, x *ops.Value) *ops.Value {
	return ops.Add(s, ops.Mul(s, x, c.Var1), c.Var2)
}

// SavedModelSpec returns the saved parts of an object: its edges, and its name as
// metadata.
func (c *Custom) SavedModelSpec(sc *savedmodel.SaveContext) (*savedmodel.SaveSpec, error) {
	spec, err := sc.Default(c) // var_1, var_2, call
	if err != nil {
		return nil, err
	}
	spec.Metadata, err = json.Marshal(metadata{c.Name})
	return spec, err
}

// loadCustom makes an object of a saved one, of either version. The values come later.
func loadCustom(ctx context.Context, spec *savedmodel.LoadSpec) (*Custom, error) {
	var m metadata
	if err := json.Unmarshal(spec.Metadata, &m); err != nil {
		return nil, err
	}
	c := NewCustom(m.Name)
	switch spec.Version {
	case 1: // kept its variables in a list "vars": map it, so that its values are restored into c
		return c, spec.SetCheckpoint(&struct{ Vars []*trackable.Variable }{[]*trackable.Variable{c.Var1, c.Var2}})
	case 2:
		var err error
		if c.Var1, err = savedmodel.Child[*trackable.Variable](ctx, spec, "var_1"); err != nil {
			return nil, err
		}
		c.Var2, err = savedmodel.Child[*trackable.Variable](ctx, spec, "var_2")
		return c, err
	}
	return nil, &savedmodel.VersionError{Identifier: spec.Identifier, Got: spec.Version, Max: 2}
}

// CustomV1 is the first version, as an older program has it.
type CustomV1 struct {
	trackable.Base
	Name string `cairn:"-"`
	Vars []*trackable.Variable
}

// SavedModelSpec saves the edges that the object has, and its name.
func (c *CustomV1) SavedModelSpec(*savedmodel.SaveContext) (*savedmodel.SaveSpec, error) {
	b, err := json.Marshal(metadata{c.Name})
	return &savedmodel.SaveSpec{Metadata: b}, err
}

// serializer returns the serializer of today's program.
func serializer() (*savedmodel.Serializer, error) {
	classes := new(savedmodel.Classes)
	err := savedmodel.Register(classes, savedmodel.Class[*Custom]{Package: "Example", Name: "CustomSerializable", Version: 2, Load: loadCustom})
	return &savedmodel.Serializer{Package: "Example", Classes: classes}, err
}

// oldSerializer returns the serializer of the older program.
func oldSerializer() (*savedmodel.Serializer, error) {
	classes := new(savedmodel.Classes)
	err := savedmodel.Register(classes, savedmodel.Class[*CustomV1]{Package: "Example", Name: "CustomSerializable"})
	return &savedmodel.Serializer{Package: "Example", Classes: classes}, err
}

// run saves an object to dir, loads it and prints its values.
func run(ctx context.Context, dir string) error {
	ser, err := serializer()
	if err != nil {
		return err
	}
	c := NewCustom("Obj")
	if _, err := c.Call.Trace(ops.Spec(tensor.Float32)); err != nil {
		return err
	}
	if err := ser.Save(ctx, c, dir, nil); err != nil {
		return err
	}
	loaded, err := savedmodel.LoadAs[*Custom](ctx, ser, os.DirFS(dir))
	if err != nil {
		return err
	}
	fmt.Println(loaded.Name, loaded.Var1.Load(), loaded.Var2.Load())
	return nil
}

func main() {
	dir := flag.String("o", "custom_model", "the directory to write")
	flag.Parse()
	if err := run(context.Background(), *dir); err != nil {
		log.Fatal(err)
	}
}
