package data

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel/lookup"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of ops named Experimental, and those of IteratorGetDevice,
// CompressElement, UncompressElement, InitializeTableFromDataset, FakeQueue,
// RandomDatasetV2 and MapDefun. Handles of thread pools and statistics are
// dummies, because no op reads them. So ThreadPoolDataset and
// SetStatsAggregatorDataset return their input.

// experimental lists the ops that TensorFlow had first under names that begin with
// "Experimental" and that take the same inputs and attributes since. Each must be in the table
// that renamed gets.
var experimental = []string{
	"AutoShardDataset", "BytesProducedStatsDataset", "ChooseFastestDataset", "DatasetCardinality", "DatasetToTFRecord",
	"DenseToSparseBatchDataset", "DirectedInterleaveDataset", "GroupByReducerDataset", "GroupByWindowDataset", "IgnoreErrorsDataset",
	"IteratorGetDevice", "LatencyStatsDataset", "MapAndBatchDataset", "MatchingFilesDataset", "MaxIntraOpParallelismDataset",
	"NonSerializableDataset", "ParallelInterleaveDataset", "PrivateThreadPoolDataset", "ScanDataset",
	"SetStatsAggregatorDataset", "SleepDataset", "SlidingWindowDataset", "StatsAggregatorHandle", "TakeWhileDataset",
	"ThreadPoolDataset", "ThreadPoolHandle", "UnbatchDataset", "UniqueDataset", "CSVDataset", "RebatchDataset",
}

// renamed returns table with the kernels of experimental ops.
func renamed(table []engine.Kernel) []engine.Kernel {
	byOp := map[string]engine.Kernel{}
	for _, k := range table {
		byOp[k.Op] = k
	}
	for _, op := range experimental {
		k := byOp[op]
		k.Op = "Experimental" + op
		table = append(table, k)
	}
	return table
}

// aside returns the kernels of ops around datasets: handles of their execution
// environment, compressed elements, tables made of them.
func aside() []engine.Kernel {
	return []engine.Kernel{
		{Op: "ThreadPoolDataset", Run: same},
		{Op: "SetStatsAggregatorDataset", Run: same},
		{Op: "ThreadPoolHandle", Run: dummyHandle},
		{Op: "StatsAggregatorHandle", Run: dummyHandle},
		{Op: "StatsAggregatorHandleV2", Run: dummyHandle},
		{Op: "IteratorGetDevice", Run: deviceOf},
		{Op: "CompressElement", Run: compress},
		{Op: "UncompressElement", Run: uncompress},
		{Op: "InitializeTableFromDataset", Run: tableOf},
		{Op: "FakeQueue", Run: fakeQueue},
		{Op: "RandomDatasetV2", Run: randomNumbers},
		{Op: "MapDefun", Prepare: mapDefun},
	}
}

// deviceOf returns the name of the only device.
func deviceOf(c *engine.Call) error {
	if _, err := engine.Object[*Iterator](c, 0); err != nil {
		return err
	}
	c.Set(0, tensor.Scalar("/job:localhost/replica:0/task:0/device:CPU:0"))
	return nil
}

// packedElement is the variant that CompressElement returns: the components, not
// compressed. Compressing values that stay in memory would gain nothing.
type packedElement struct{ components element }

// VariantName returns TensorFlow's name of the variant.
func (*packedElement) VariantName() string { return "tensorflow.data.CompressedElement" }

// Escape does nothing, because the components own their memory.
func (*packedElement) Escape() {}

// Free does nothing, because the components own their memory.
func (*packedElement) Free(*engine.Arena) {}

func compress(c *engine.Call) error {
	c.SetObject(0, &packedElement{owned(c, 0, c.NumIn())})
	return nil
}

func uncompress(c *engine.Call) error {
	p, err := engine.Object[*packedElement](c, 0)
	if err != nil {
		return err
	}
	return give(c, p.components)
}

// tableOf fills a table with the pairs of a dataset.
func tableOf(c *engine.Call) error {
	table, err := engine.Object[*lookup.Table](c, 0)
	if err != nil {
		return err
	}
	in, err := datasetIn(c, 1)
	if err != nil {
		return err
	}
	it, err := in.iterate(c, 0)
	if err != nil {
		return err
	}
	var pairs []element
	var bytes int64
	for {
		e, ok, err := pull(c, it)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if len(e) != 2 || e[0].Tensor == nil || e[1].Tensor == nil {
			return fmt.Errorf("an element of %d components is no key with a value", len(e))
		}
		bytes += bytesOf(e)
		if err := c.Afford(bytes); err != nil {
			return err
		}
		pairs = append(pairs, e)
	}
	if len(pairs) == 0 {
		return table.Fill(c.Context(), nil, nil)
	}
	both, err := stack(c, pairs)
	if err != nil {
		return err
	}
	return table.Fill(c.Context(), both[0].Tensor, both[1].Tensor)
}

// fakeQueue returns the handle of a queue as a reference, as in TensorFlow 1.
func fakeQueue(c *engine.Call) error {
	q, err := engine.Object[*Queue](c, 0)
	if err != nil {
		return err
	}
	c.Refs().Output(0, engine.Value{Object: q, Ref: true})
	return nil
}

// rowSize is about how many bytes a row's result takes besides its tensors, for
// Call.Fits.
const rowSize = 64

// mapDefun prepares an op that calls a function for each row of its arguments.
// Output k is the stack of result k of all rows. The inputs after the arguments
// are captures.
func mapDefun(n *engine.Node) (func(*engine.Call) error, error) {
	f, err := n.Function("f", nil)
	if err != nil {
		return nil, err
	}
	args, results := len(n.Attrs.Types("Targuments")), len(n.Attrs.Types("output_types"))
	if args == 0 {
		return nil, fmt.Errorf("needs arguments: their rows say how often the function is called")
	}
	return func(c *engine.Call) error {
		if c.NumIn() < args {
			return fmt.Errorf("takes %d arguments, %d inputs were given", args, c.NumIn())
		}
		all := owned(c, 0, args)
		count, err := rowsOf(all)
		if err != nil {
			return err
		}
		g := &closure{f, owned(c, args, c.NumIn())}
		c.Fits(count, rowSize)
		rows := make([]element, count)
		var bytes int64
		for i := range rows {
			if err := c.Context().Err(); err != nil {
				return err
			}
			one := make(element, args)
			for k, v := range all {
				if one[k], err = row(v, i); err != nil {
					return err
				}
			}
			if rows[i], err = g.call(c, one); err != nil {
				return fmt.Errorf("row %d: %w", i, err)
			}
			if len(rows[i]) != results {
				return fmt.Errorf("the function returns %d values, not %d", len(rows[i]), results)
			}
			bytes += bytesOf(rows[i])
			if err := c.Afford(bytes); err != nil {
				return err
			}
		}
		var joined element
		if count > 0 {
			joined, err = stack(c, rows)
		} else {
			joined, err = noRows(c.Attrs())
		}
		if err != nil {
			return err
		}
		return giveAll(c, joined)
	}, nil
}

// noRows returns the results of no calls, with the shapes of the attribute
// output_shapes.
func noRows(as graph.Attrs) (element, error) {
	var out element
	shapes := as.Shapes("output_shapes")
	for i, d := range as.Types("output_types") {
		if i >= len(shapes) || !shapes[i].Known() {
			return nil, fmt.Errorf("result %d has no rows, and its shape isn't known", i)
		}
		t, err := tensor.Zeros(d, append(tensor.Shape{0}, shapes[i].Anonymous().Dims()...)...)
		if err != nil {
			return nil, err
		}
		out = append(out, engine.ValueOf(t))
	}
	return out, nil
}
