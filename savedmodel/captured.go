package savedmodel

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Functions capture the objects of a restored model by the methods in this file, which are those of
// graph.Capturable.

// CaptureFact returns the type of an asset's path: a scalar string.
func (a *TrackableAsset) CaptureFact() graph.Fact {
	return graph.Fact{DType: tensor.String, Shape: graph.ShapeOf()}
}

// CaptureValue returns the asset's path.
func (a *TrackableAsset) CaptureValue(context.Context, graph.Runner) (graph.Captured, error) {
	return graph.Captured{Tensor: tensor.Scalar(a.String())}, nil
}

// CapturedFile returns the asset as the only file of a file system.
func (a *TrackableAsset) CapturedFile() (fsys fs.FS, name string) { return assetFS{a}, a.String() }

// assetFS has one file, the asset, under whatever name it is opened.
type assetFS struct{ a *TrackableAsset }

func (f assetFS) Open(string) (fs.File, error) { return f.a.Open() }

// liveResource is the state of a resource that its functions make.
type liveResource struct {
	run  graph.Runner // nil: that of the first call
	made atomic.Pointer[madeResource]
}

// madeResource is a resource that exists.
type madeResource struct {
	object any          // the handle
	run    graph.Runner // calls the functions that save and restore its values
}

// making is held while resources are made. There is one lock for all, because a resource may be made of
// others, in any order. The context records that the caller holds it.
var making sync.Mutex

// within returns a context in which the resource has its handle already.
func (r *TrackableResource) within(ctx context.Context, handle any) context.Context {
	return context.WithValue(context.WithValue(ctx, makingAny{}, true), makingKey{r}, handle)
}

// makingAny is the key of a context in which making is held.
type makingAny struct{}

// makingKey is the key of the handle that a resource has while it is filled.
type makingKey struct{ r *TrackableResource }

// CaptureFact returns the type of a handle: a scalar resource.
func (r *TrackableResource) CaptureFact() graph.Fact {
	return graph.Fact{DType: tensor.Resource, Shape: graph.ShapeOf()}
}

// CaptureValue returns the resource's handle. The first call makes the resource: it runs
// "_create_resource" and "_initialize", then the functions that restore its values.
func (r *TrackableResource) CaptureValue(ctx context.Context, run graph.Runner) (graph.Captured, error) {
	if h := ctx.Value(makingKey{r}); h != nil {
		return graph.Captured{Object: h}, nil
	}
	m, err := r.makeOnce(ctx, run)
	if err != nil {
		return graph.Captured{}, err
	}
	return graph.Captured{Object: m.object}, nil
}

// makeOnce returns the resource that the functions have made, and makes it if there is none.
func (r *TrackableResource) makeOnce(ctx context.Context, run graph.Runner) (*madeResource, error) {
	if m := r.live.made.Load(); m != nil {
		return m, nil
	}
	if ctx.Value(makingAny{}) == nil {
		making.Lock()
		defer making.Unlock()
		if m := r.live.made.Load(); m != nil {
			return m, nil
		}
	}
	if r.live.run != nil {
		run = r.live.run
	}
	h, err := r.make(ctx, run)
	if err != nil {
		return nil, err
	}
	m := &madeResource{h, run}
	r.live.made.Store(m)
	return m, nil
}

// Adopt makes handle the resource's handle, in place of one that its functions make. run
// calls the functions that save the resource's values.
func (r *TrackableResource) Adopt(handle any, run graph.Runner) {
	r.live.made.Store(&madeResource{handle, run})
}

// make makes the resource: TensorFlow's order is _create_resource, _initialize, then the functions that
// restore its values. After an error the next caller tries again.
func (r *TrackableResource) make(ctx context.Context, run graph.Runner) (any, error) {
	create := r.function("_create_resource")
	if create == nil {
		return nil, errors.New("the resource has no function \"_create_resource\", which makes it")
	}
	out, err := run(ctx, create)
	if err != nil {
		return nil, err
	}
	if len(out) != 1 || out[0].Object == nil {
		return nil, errors.New("the function \"_create_resource\" returns no handle")
	}
	h := out[0].Object
	ctx = r.within(ctx, h)
	if init := r.function("_initialize"); init != nil {
		if _, err := run(ctx, init); err != nil {
			return nil, err
		}
	}
	return h, r.fill(ctx, run)
}

// function returns the first trace of a function that is a child; nil if there is none.
func (r *TrackableResource) function(name string) *graph.Concrete {
	f, _ := r.Child(name).(FunctionNode)
	return traceOf(f)
}

// SerializeToTensors returns the resource's values: those that it has now if functions
// have made it, else those of the model's checkpoint.
func (r *TrackableResource) SerializeToTensors() ([]trackable.Attribute, error) {
	m := r.live.made.Load()
	if m == nil && r.live.run != nil && len(r.saveables) > 0 {
		var err error
		if m, err = r.makeOnce(context.Background(), nil); err != nil {
			return nil, err
		}
	}
	if m == nil {
		return r.storedValues.SerializeToTensors()
	}
	return r.exported(r.within(context.Background(), m.object), m.run)
}

// RestoreFromTensors replaces the resource's values.
func (r *TrackableResource) RestoreFromTensors(values map[string]*tensor.Tensor) error {
	for _, name := range sortedKeys(r.saveables) {
		if slices.ContainsFunc(r.attributes, func(a trackable.Attribute) bool { return a.Name == name }) {
			continue
		}
		a := trackable.Attribute{Name: name, Tensor: values[name]}
		for _, key := range sortedKeys(values) {
			if suffix, ok := strings.CutPrefix(key, name); ok && suffix != "" {
				a.Parts = append(a.Parts, trackable.AttributePart{Suffix: suffix, Tensor: values[key]})
			}
		}
		r.attributes = append(r.attributes, a)
	}
	if err := r.storedValues.RestoreFromTensors(values); err != nil {
		return err
	}
	m := r.live.made.Load()
	if m == nil {
		return nil
	}
	return r.fill(r.within(context.Background(), m.object), m.run)
}

// ResourceOptions describe a resource; nil means the defaults.
type ResourceOptions struct {
	// RegisteredName is the class that the file names. Default: none.
	RegisteredName string
	// Device is the device that the resource asks for. Default: any.
	Device string
	// Saveables are functions that save and restore the resource's values, by the name
	// of the saved attribute. Default: none.
	Saveables map[string]SaveableFunctions
	// Run calls the functions that make the resource, if a checkpoint needs its values
	// before a function has captured it. Default: such a checkpoint has no values.
	Run graph.Runner
}

// NewResource returns a resource that its own functions make. They are among
// its edges: "_create_resource" returns the handle; "_initialize" and
// "_destroy_resource", which are optional, return an int32. An op accepts the
// resource as an input.
func NewResource(edges []trackable.Edge, opts *ResourceOptions) *TrackableResource {
	if opts == nil {
		opts = new(ResourceOptions)
	}
	r := &TrackableResource{Traits: &Traits{RegisteredName: opts.RegisteredName, Device: opts.Device}, edgeList: edgeList{edges: edges}}
	r.saveables, r.live.run = opts.Saveables, opts.Run
	return r
}
