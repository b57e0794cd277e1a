package savedmodeltest_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/savedmodeltest"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Counter is a class with a name and a list of counts.
type Counter struct {
	trackable.Base
	Name   string `cairn:"-"`
	Counts []*trackable.Variable
}

func (c *Counter) SavedModelSpec(sc *savedmodel.SaveContext) (*savedmodel.SaveSpec, error) {
	spec, err := sc.Default(c)
	if err != nil {
		return nil, err
	}
	spec.Metadata, err = json.Marshal(map[string]any{"name": c.Name, "n": len(c.Counts)})
	return spec, err
}

func loadCounter(_ context.Context, spec *savedmodel.LoadSpec) (*Counter, error) {
	var m struct {
		Name string
		N    int
	}
	if err := json.Unmarshal(spec.Metadata, &m); err != nil {
		return nil, err
	}
	c := &Counter{Name: m.Name}
	for range m.N {
		c.Counts = append(c.Counts, trackable.NewVariable(tensor.Scalar[int64](0)))
	}
	return c, nil
}

func TestRun(t *testing.T) {
	classes := new(savedmodel.Classes)
	if err := savedmodel.Register(classes, savedmodel.Class[*Counter]{Package: "test", Name: "Counter", Version: 3, Load: loadCounter}); err != nil {
		t.Fatal(err)
	}
	savedmodeltest.Run(t, &savedmodeltest.Class[*Counter]{
		Serializer: &savedmodel.Serializer{Package: "test", Classes: classes},
		New: func() *Counter {
			return &Counter{Name: "visits", Counts: []*trackable.Variable{
				trackable.NewVariable(tensor.Scalar[int64](3)), trackable.NewVariable(tensor.Scalar[int64](4))}}
		},
		Outputs: func(_ context.Context, c *Counter) (out []*tensor.Tensor, err error) {
			for _, v := range c.Counts {
				out = append(out, v.Load())
			}
			return out, nil
		},
		Identifier: "test.Counter",
		Version:    3,
	})
}
