package data_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"math"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/internal/testkit/processor"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

// countedContext is a context that ends at a number of questions for its error.
type countedContext struct {
	context.Context
	left atomic.Int64
	end  context.CancelCauseFunc
}

func afterLooks(n int64) *countedContext {
	x := new(countedContext)
	x.Context, x.end = context.WithCancelCause(context.Background())
	x.left.Store(n)
	return x
}

func (x *countedContext) Err() error {
	if x.left.Add(-1) == 0 {
		x.end(context.Canceled)
	}
	return x.Context.Err()
}

// caller runs ops one by one, with the state of one instance.
type caller struct {
	t   *testing.T
	env *engine.Env
}

func newCaller(t *testing.T, files *engine.Files) *caller {
	env := &engine.Env{Arena: engine.NewArena(), Instance: new(engine.Instance), MaxOutput: 4 << 20, Files: files, Log: new(bytes.Buffer)}
	t.Cleanup(env.Arena.Close)
	return &caller{t, env}
}

// call runs an op; in are tensors or values.
func (x *caller) call(ctx context.Context, op string, attrs graph.Attrs, in ...any) ([]engine.Value, error) {
	x.t.Helper()
	var values []engine.Value
	for _, v := range in {
		if t, ok := v.(*tensor.Tensor); ok {
			v = engine.ValueOf(t)
		}
		values = append(values, v.(engine.Value))
	}
	p, err := kernel.All().PrepareEager(op, attrs, values)
	if err != nil {
		x.t.Fatal(err)
	}
	env := *x.env // calls may be concurrent
	env.Arena = engine.NewArena()
	defer env.Arena.Close()
	var call engine.Runner
	call.Begin(ctx, &env)
	for _, v := range values {
		call.Add(v)
	}
	if err := call.Run(p); err != nil {
		return nil, err
	}
	out := call.Results()
	for i := range out {
		out[i] = out[i].Keep()
	}
	return out, nil
}

// must returns the first output of a call without an error.
func (x *caller) must(op string, attrs graph.Attrs, in ...any) engine.Value {
	x.t.Helper()
	out, err := x.call(context.Background(), op, attrs, in...)
	if err != nil {
		x.t.Fatalf("%s: %v", op, err)
	}
	if len(out) == 0 {
		return engine.Value{}
	}
	return out[0]
}

func typed(types ...tensor.DType) graph.Attrs {
	return graph.Attrs{graph.Types("output_types", types...), graph.Shapes("output_shapes", make([]graph.PartialShape, len(types))...)}
}

// next returns the next element of a dataset through a new iterator.
func (x *caller) next(ctx context.Context, ds engine.Value, types ...tensor.DType) ([]engine.Value, error) {
	x.t.Helper()
	it := x.must("AnonymousIteratorV3", typed(types...))
	x.must("MakeIterator", nil, ds, it)
	return x.call(ctx, "IteratorGetNext", typed(types...), it)
}

func zeros(n int, open func(io.Writer) io.WriteCloser) []byte {
	var b bytes.Buffer
	w := open(&b)
	part := make([]byte, 1<<20)
	for range n >> 20 {
		_, _ = w.Write(part)
	}
	_ = w.Close()
	return b.Bytes()
}

// TestSkippedBytesEndWithTheContext skips bytes of files that expand to many.
func TestSkippedBytesEndWithTheContext(t *testing.T) {
	const size = 32 << 20
	x := newCaller(t, &engine.Files{Read: fstest.MapFS{
		"gzip": {Data: zeros(size, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })},
		"zlib": {Data: zeros(size, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })},
	}})
	number := tensor.Scalar[int64]
	reader := func(attrs ...graph.Attr) func(ctx context.Context) error {
		queue := x.must("FIFOQueueV2", graph.Attrs{graph.Types("component_types", tensor.String), graph.String("shared_name", "files")})
		x.must("QueueEnqueueV2", nil, queue, tensor.Scalar("zlib"))
		r := x.must("FixedLengthRecordReaderV2", append(graph.Attrs{graph.String("encoding", "ZLIB"), graph.String("shared_name", attrs[0].Name)}, attrs...))
		return func(ctx context.Context) error {
			for { // until the file ends: then the empty queue is an error
				if _, err := x.call(ctx, "ReaderReadV2", nil, r, queue); err != nil {
					return err
				}
			}
		}
	}
	taken := func(ds engine.Value) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			_, err := x.next(ctx, ds, tensor.String)
			return err
		}
	}
	for name, run := range map[string]func(ctx context.Context) error{
		"an offset": taken(x.must("TFRecordDatasetV2", nil, tensor.Vector("gzip"), tensor.Scalar("GZIP"), number(0), tensor.Vector[int64](1<<40))),
		"a header":  taken(x.must("FixedLengthRecordDatasetV2", nil, tensor.Vector("gzip"), number(1<<40), number(1), number(0), number(0), tensor.Scalar("GZIP"))),
		"a hop":     reader(graph.Int("hop_bytes", 1<<40), graph.Int("record_bytes", 1)),
		"header":    reader(graph.Int("header_bytes", 1<<40), graph.Int("record_bytes", 1)),
	} {
		ctx := afterLooks(25)
		if err := run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v after all but %d looks, want that of the context", name, err, ctx.left.Load())
		}
	}
}

// TestReadersWaitNoLongerThanTheirContexts asks a reader for its count while another call waits
// for work in its queue.
func TestReadersWaitNoLongerThanTheirContexts(t *testing.T) {
	x := newCaller(t, nil)
	queue := x.must("FIFOQueueV2", graph.Attrs{graph.Types("component_types", tensor.String), graph.String("shared_name", "work")})
	r := x.must("IdentityReaderV2", graph.Attrs{graph.String("shared_name", "reader")})
	waiting, end := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { _, _ = x.call(waiting, "ReaderReadV2", nil, r, queue) })
	defer group.Wait()
	defer end()
	for _, c := range []struct {
		op string
		in []any
	}{{"ReaderNumRecordsProducedV2", nil}, {"ReaderResetV2", nil}, {"ReaderSerializeStateV2", nil}, {"ReaderReadV2", []any{queue}}} {
		var err error
		for err == nil { // until the other call waits
			ctx, stop := context.WithTimeout(context.Background(), 5*time.Millisecond)
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, err = x.call(ctx, c.op, nil, append([]any{r}, c.in...)...)
			}()
			select {
			case <-done:
			case <-time.After(10 * time.Second):
				t.Fatalf("%s waits longer than its context", c.op)
			}
			stop()
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: error %v, want that of the context", c.op, err)
		}
	}
}

// TestLongElementsTakeLinearTime reads elements of many strings and of many columns.
func TestLongElementsTakeLinearTime(t *testing.T) {
	const n = 300_000
	before := make([]int64, n)
	for i := range before {
		before[i] = int64(i)
	}
	excluded := tensor.Must(tensor.New(before, n))
	x := newCaller(t, &engine.Files{Read: fstest.MapFS{"csv": {Data: []byte(strings.Repeat(",", n) + "7\n")}}})
	x.env.MaxOutput = 64 << 20
	start := processor.Time()
	csv := x.must("CSVDatasetV2", typed(tensor.Int64), tensor.Vector("csv"), tensor.Scalar(""), tensor.Scalar[int64](1), tensor.Scalar(false), tensor.Scalar(","), tensor.Scalar(true),
		tensor.Scalar(""), tensor.Vector[int64](), tensor.Vector[int64](), excluded)
	out, err := x.next(context.Background(), csv, tensor.Int64)
	if err != nil || !out[0].Tensor.Equal(tensor.Scalar[int64](7)) {
		t.Errorf("%v %v, want the last column", out, err)
	}
	texts := make([]string, n)
	for i := range texts {
		texts[i] = strings.Repeat("x", 20)
	}
	ds := x.must("TensorDataset", graph.Attrs{graph.Types("Toutput_types", tensor.String), graph.Shapes("output_shapes", graph.UnknownShape)}, tensor.Vector(texts...))
	if _, err := x.next(context.Background(), x.must("UniqueDataset", typed(tensor.String), ds), tensor.String); err != nil {
		t.Error(err)
	}
	if took := processor.Time() - start; took > 5*time.Second {
		t.Errorf("%d columns and strings took %v", n, took)
	}
}

// TestColumnsOfFilesAreSelected reads records with lists of columns.
func TestColumnsOfFilesAreSelected(t *testing.T) {
	x := newCaller(t, &engine.Files{Read: fstest.MapFS{"csv": {Data: []byte("1,2,3\n")}}})
	for _, c := range []struct {
		columns, excluded []int64
		want              []int64 // nil: an error
	}{
		{nil, nil, nil}, {[]int64{0, 2}, nil, []int64{1, 3}}, {[]int64{1, 2}, nil, []int64{2, 3}}, {[]int64{2, 3}, nil, nil},
		{nil, []int64{0}, []int64{2, 3}}, {nil, []int64{1}, []int64{1, 3}}, {nil, []int64{2, 9}, []int64{1, 2}}, {nil, []int64{0, 1}, nil},
	} {
		list := func(v []int64) *tensor.Tensor { return tensor.Must(tensor.New(v, len(v))) }
		ds := x.must("CSVDatasetV2", typed(tensor.Int64, tensor.Int64), tensor.Vector("csv"), tensor.Scalar(""), tensor.Scalar[int64](1), tensor.Scalar(false), tensor.Scalar(","), tensor.Scalar(true),
			tensor.Scalar(""), list(c.columns), tensor.Vector[int64](), tensor.Vector[int64](), list(c.excluded))
		out, err := x.next(context.Background(), ds, tensor.Int64, tensor.Int64)
		if (err != nil) != (c.want == nil) || err == nil && (!out[0].Tensor.Equal(tensor.Scalar(c.want[0])) || !out[1].Tensor.Equal(tensor.Scalar(c.want[1]))) {
			t.Errorf("columns %v without %v: %v %v, want %v", c.columns, c.excluded, out, err, c.want)
		}
	}
	for range 20 {
		_, err := x.call(context.Background(), "CSVDataset", typed(tensor.Int64), tensor.Vector("csv"), tensor.Vector("", ""), tensor.Scalar[int64](1), tensor.Scalar(false), tensor.Vector(",", ","), tensor.Scalar(true),
			tensor.Scalar(""), tensor.Vector[int64](), tensor.Vector[int64]())
		if err == nil || !strings.Contains(err.Error(), "input 1 is") {
			t.Fatalf("error %v, want that of the first bad input", err)
		}
	}
}

// TestRefusedElementsAreNotCounted repeats calls that change nothing because they are refused.
// Then areas and barriers take as much as before, and no more.
func TestRefusedElementsAreNotCounted(t *testing.T) {
	const most = 1 << 20
	part := tensor.Must(tensor.Zeros(tensor.Uint8, 1, most*6/10))
	x := newCaller(t, nil)
	x.env.MaxOutput = most
	ctx := context.Background()

	area := graph.Attrs{graph.Types("dtypes", tensor.Uint8, tensor.Uint8), graph.String("shared_name", "area")}
	put := func(key int64) error {
		_, err := x.call(ctx, "MapStage", append(graph.Attrs{graph.Types("fake_dtypes", tensor.Uint8, tensor.Uint8)}, area...), tensor.Scalar(key), tensor.Vector[int32](0, 1), part, tensor.Vector[uint8](1))
		return err
	}
	if err := put(1); err != nil {
		t.Fatal(err)
	}
	x.must("MapUnstage", area, tensor.Scalar[int64](1), tensor.Vector[int32](1))
	for range 5 {
		if _, err := x.call(ctx, "MapUnstage", area, tensor.Scalar[int64](1), tensor.Vector[int32](0, 1)); err == nil || !strings.Contains(err.Error(), "taken") {
			t.Fatalf("error %v of a component that was taken", err)
		}
	}
	if err := put(2); err == nil {
		t.Error("an area holds more than it may")
	}

	parts := graph.Attrs{graph.Types("dtypes", tensor.Uint8, tensor.Uint8), graph.String("shared_name", "parts")}
	putOne := func(key int64, at int32, v *tensor.Tensor) error {
		_, err := x.call(ctx, "MapStage", append(graph.Attrs{graph.Types("fake_dtypes", tensor.Uint8)}, parts...), tensor.Scalar(key), tensor.Vector(at), v)
		return err
	}
	incomplete := func() int32 {
		return tensor.Values[int32](x.must("MapIncompleteSize", parts).Tensor)[0]
	}
	for range 3 {
		if err := putOne(1, 0, part); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			if err := putOne(2, 0, part); err == nil {
				t.Fatal("an area holds more than it may in incomplete elements")
			}
		}
		if n := incomplete(); n != 1 {
			t.Errorf("%d elements are incomplete, want 1", n)
		}
		if err := putOne(1, 1, tensor.Vector[uint8](1)); err != nil {
			t.Fatal(err)
		}
		x.must("MapUnstage", parts, tensor.Scalar[int64](1), tensor.Vector[int32](0))
		if err := errors.Join(putOne(2, 0, part), putOne(2, 1, tensor.Vector[uint8](1))); err != nil {
			t.Fatal(err)
		}
		x.must("MapClear", parts)
	}

	types := graph.Types("component_types", tensor.Uint8, tensor.Uint8)
	o := &engine.RunOptions{Instance: new(engine.Instance), MaxOutput: most}
	barrier := func(b *body) graph.Output {
		return b.add("Barrier", graph.Attrs{types, graph.String("shared_name", "barrier")})
	}
	insert := func(key string, i int64, v *tensor.Tensor) error {
		b := newBody(t, "insert", tensor.String, tensor.Uint8)
		p := b.plan(b.add("BarrierInsertMany", graph.Attrs{graph.Int("component_index", i)}, barrier(b), b.arg(0), b.arg(1)))
		_, err := p.Run(ctx, []engine.Value{engine.ValueOf(tensor.Vector(key)), engine.ValueOf(v)}, o)
		return err
	}
	take := func() error {
		b := newBody(t, "take")
		_, err := b.plan(b.add("BarrierTakeMany", graph.Attrs{types}, barrier(b), tensor.Scalar[int32](1))).Run(ctx, nil, o)
		return err
	}
	small := tensor.Must(tensor.Zeros(tensor.Uint8, 1, 1))
	for range 3 {
		if err := errors.Join(insert("a", 0, part), insert("a", 1, small)); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			if err := insert("b", 0, part); err == nil {
				t.Fatal("a barrier holds more than it may")
			}
		}
		if err := take(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAKeyIsStagedOnce puts one key from two calls while the map is full. When there is room, one
// of them succeeds and the other one is refused.
func TestAKeyIsStagedOnce(t *testing.T) {
	x := newCaller(t, nil)
	area := graph.Attrs{graph.Types("dtypes", tensor.Int64), graph.Int("capacity", 1), graph.String("shared_name", "area")}
	put := func(key, v int64) error {
		ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
		defer stop()
		_, err := x.call(ctx, "MapStage", append(graph.Attrs{graph.Types("fake_dtypes", tensor.Int64)}, area...), tensor.Scalar(key), tensor.Vector[int32](0), tensor.Scalar(v))
		return err
	}
	if err := put(1, 1); err != nil {
		t.Fatal(err)
	}
	results := make(chan error, 2)
	for i := range int64(2) {
		go func() { results <- put(2, i) }()
	}
	time.Sleep(20 * time.Millisecond) // mostly they wait then
	x.must("MapUnstage", area, tensor.Scalar[int64](1), tensor.Vector[int32](0))
	var refused []error // either may come first
	for range 2 {
		select {
		case err := <-results:
			if err != nil {
				refused = append(refused, err)
			}
		case <-time.After(9 * time.Second):
			t.Fatal("a call still waits")
		}
	}
	if len(refused) != 1 || !strings.Contains(refused[0].Error(), "already") {
		t.Errorf("refused: %v, want one of the two calls", refused)
	}
}

// TestQueuesOfOneNameHaveOneForm makes queues of a name twice, with different attributes.
func TestQueuesOfOneNameHaveOneForm(t *testing.T) {
	scalar, row, any := graph.ShapeOf(), graph.ShapeOf(3), graph.ShapeOf(-1)
	for _, c := range []struct {
		op            string
		first, second graph.Attrs
		refused       bool
	}{
		{"FIFOQueueV2", graph.Attrs{graph.Shapes("shapes", scalar)}, graph.Attrs{graph.Shapes("shapes", row)}, true},
		{"FIFOQueueV2", graph.Attrs{graph.Shapes("shapes", row)}, graph.Attrs{graph.Shapes("shapes", row)}, false},
		{"FIFOQueueV2", graph.Attrs{graph.Shapes("shapes", row)}, nil, true},
		{"PaddingFIFOQueueV2", graph.Attrs{graph.Shapes("shapes", any)}, graph.Attrs{graph.Shapes("shapes", row)}, false},
		{"PaddingFIFOQueueV2", graph.Attrs{graph.Shapes("shapes", scalar)}, graph.Attrs{graph.Shapes("shapes", row)}, true},
		{"RandomShuffleQueueV2", graph.Attrs{graph.Int("min_after_dequeue", 1)}, graph.Attrs{graph.Int("min_after_dequeue", 2)}, true},
		{"RandomShuffleQueueV2", graph.Attrs{graph.Int("seed", 1)}, graph.Attrs{graph.Int("seed", 2)}, true},
		{"RandomShuffleQueueV2", graph.Attrs{graph.Int("seed", 1)}, graph.Attrs{graph.Int("seed", 1)}, false},
		{"RandomShuffleQueueV2", graph.Attrs{graph.Int("seed", 1)}, nil, false},
		{"RandomShuffleQueueV2", graph.Attrs{graph.Int("seed2", 1)}, graph.Attrs{graph.Int("seed", 0), graph.Int("seed2", 0)}, false},
		{"RandomShuffleQueueV2", nil, graph.Attrs{graph.Int("seed", 1)}, true},
		{"RandomShuffleQueueV2", graph.Attrs{graph.Int("seed", 1), graph.Int("seed2", 2)}, graph.Attrs{graph.Int("seed", 1)}, true},
	} {
		x := newCaller(t, nil)
		both := graph.Attrs{graph.Types("component_types", tensor.Int64), graph.String("shared_name", "queue")}
		x.must(c.op, append(c.first, both...))
		if _, err := x.call(context.Background(), c.op, append(c.second, both...)); (err != nil) != c.refused {
			t.Errorf("%s %v after %v: error %v", c.op, c.second, c.first, err)
		}
	}
}

// TestErrorsNameTheIndexThatIsAfterTheEnd asks for an element of a dataset of unknown size.
func TestErrorsNameTheIndexThatIsAfterTheEnd(t *testing.T) {
	x := newCaller(t, nil)
	three := x.must("RangeDataset", typed(tensor.Int64), tensor.Scalar[int64](0), tensor.Scalar[int64](3), tensor.Scalar[int64](1))
	ds := x.must("IgnoreErrorsDataset", typed(tensor.Int64), three)
	if _, err := x.call(context.Background(), "GetElementAtIndex", typed(tensor.Int64), ds, tensor.Scalar[int64](5)); err == nil || !strings.Contains(err.Error(), "index 5") {
		t.Errorf("error %v, want one with index 5", err)
	}
}

// TestRowsOfManyReplicas divides batches among the largest number of replicas.
func TestRowsOfManyReplicas(t *testing.T) {
	x := newCaller(t, nil)
	five := x.must("RangeDataset", typed(tensor.Int64), tensor.Scalar[int64](0), tensor.Scalar[int64](5), tensor.Scalar[int64](1))
	ds := x.must("BatchDatasetV2", typed(tensor.Int64), five, tensor.Scalar[int64](2), tensor.Scalar(true))
	for replicas, want := range map[int64]*tensor.Tensor{1: tensor.Vector[int64](0, 1), 2: tensor.Vector[int64](0), math.MaxInt64: tensor.Vector[int64](0)} {
		out, err := x.next(context.Background(), x.must("RebatchDataset", typed(tensor.Int64), ds, tensor.Scalar(replicas)), tensor.Int64)
		if err != nil || !out[0].Tensor.Equal(want) {
			t.Errorf("%d replicas: %v %v, want %v", replicas, out, err, want)
		}
	}
}

// TestElementsWithoutComponentsAreRefused passes them to datasets that need one.
func TestElementsWithoutComponentsAreRefused(t *testing.T) {
	for name, attrs := range map[string]graph.Attrs{"DenseToSparseBatchDataset": typed(tensor.Variant), "UniqueDataset": typed(tensor.Int64)} {
		b := newBody(t, "reads")
		nothing := newBody(t, "nothing", tensor.Int64)
		ds := b.add("MapDataset", append(graph.Attrs{callee("f", nothing.Function), graph.Types("Targuments")}, ints...), b.count(3))
		if name == "UniqueDataset" {
			ds = b.add(name, attrs, ds)
		} else {
			ds = b.add(name, attrs, ds, 1, tensor.Vector[int64](1))
		}
		_, err := b.run(context.Background(), nil, b.add("DatasetToSingleElement", attrs, ds))
		var panicked *engine.PanicError
		if err == nil || errors.As(err, &panicked) {
			t.Errorf("%s: error %v, want one of the components", name, err)
		}
	}
}

// TestIgnoredErrorsAreLoggedOnce reads from an iterator that returns the same error for ever.
func TestIgnoredErrorsAreLoggedOnce(t *testing.T) {
	x := newCaller(t, nil)
	log := x.env.Log.(*bytes.Buffer)
	three := x.must("RangeDataset", typed(tensor.Int64), tensor.Scalar[int64](0), tensor.Scalar[int64](3), tensor.Scalar[int64](1))
	unknown := x.must("IgnoreErrorsDataset", typed(tensor.Int64), three)
	wrong := x.must("AssertCardinalityDataset", typed(tensor.Int64), unknown, tensor.Scalar[int64](5))
	ds := x.must("IgnoreErrorsDataset", typed(tensor.Int64), wrong)
	it := x.must("AnonymousIteratorV3", typed(tensor.Int64))
	x.must("MakeIterator", nil, ds, it)
	for range 3 {
		x.must("IteratorGetNext", typed(tensor.Int64), it)
	}
	if _, err := x.call(afterLooks(1000), "IteratorGetNext", typed(tensor.Int64), it); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	if n := strings.Count(log.String(), "\n"); n != 1 {
		t.Errorf("%d lines in the log, want 1", n)
	}
}

// TestNestedListsNeedLittleStack makes lists in lists, each of which holds the one before once or
// twice. They are kept and released in linear time, without recursion.
func TestNestedListsNeedLittleStack(t *testing.T) {
	most := 1 << 20 // more ends the process
	if detector.Racing {
		most *= 4 // its frames are larger
	}
	defer debug.SetMaxStack(debug.SetMaxStack(most))
	for holds, levels := range map[int]int{1: 4000, 2: 60} {
		b := newBody(t, "nests")
		empty := b.add("EmptyTensorList", graph.Attrs{graph.Type("element_dtype", tensor.Variant), graph.Type("shape_type", tensor.Int32)}, tensor.Must(tensor.New([]int32{}, 0)), tensor.Scalar[int32](-1))
		list := empty
		for range levels {
			inner := list
			list = empty
			for range holds {
				list = b.add("TensorListPushBack", graph.Attrs{graph.Type("element_dtype", tensor.Variant)}, list, inner)
			}
		}
		length := b.add("TensorListLength", nil, list)
		sum := b.add("AddN", nil, list, list)
		like := b.add("ZerosLike", nil, list)
		only := func(b *body) *body { // with the nodes so far
			f := *b.Function
			f.Results = nil
			return &body{t, &f}
		}
		ctx := context.Background()
		if holds == 2 {
			var stop context.CancelFunc
			ctx, stop = context.WithTimeout(ctx, 20*time.Millisecond)
			defer stop()
		}
		if out, err := only(b).run(context.Background(), nil, length, list); err != nil || !out[0].Tensor.Equal(tensor.Scalar(int32(holds))) || out[1].Object == nil {
			t.Errorf("%d levels: %v %v", levels, out, err)
		}
		x := []graph.Output{1: like, 2: sum}[holds]
		if _, err := only(b).run(ctx, nil, x); err == nil {
			t.Errorf("%s of %d levels ends without an error", x.Node.Op, levels)
		} else if holds == 1 && !strings.Contains(err.Error(), "nested more") || holds == 2 && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s of %d levels: %v", x.Node.Op, levels, err)
		}
	}
}
