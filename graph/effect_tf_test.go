package graph

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestEffectsAreThoseOfAutomaticControlDependencies compares the effects of ops with the lists of op names in TensorFlow's
// automatic control dependencies.
func TestEffectsAreThoseOfAutomaticControlDependencies(t *testing.T) {
	b, err := os.ReadFile("testdata/tf2.21/effects.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(b)) {
		class, ops, _ := strings.Cut(line, ": ")
		for _, op := range strings.Fields(ops) {
			d := LookupOp(op)
			if d == nil {
				t.Errorf("%s isn't defined", op)
				continue
			}
			n++
			e := d.Effect()
			if !allowed(class, op, e) {
				t.Errorf("%s, of TensorFlow's class %q: %v", op, class, e)
			}
		}
	}
	if n < 450 {
		t.Errorf("only %d ops", n)
	}
}

// allowed reports whether an op of a class of TensorFlow's may have an effect of ours.
func allowed(class, op string, e Effect) bool {
	switch class {
	case "legacy random": // unordered, and left out if their results are unused
		return e&^Random == 0
	case "skipped": // the same, though they do something
		return e&Writes == 0
	case "reads": // after the last write, before the next one
		return e == Reads
	case "async", "must run", "stateless, ordered": // they talk to other processes and devices
		return e == Network
	case "ordered": // one after the other, whether their results are used or not
		return e != 0 || slices.Contains(strings.Fields(orderDoesntShow), op)
	}
	return false
}

// orderDoesntShow are stateful ops without an effect: calls, whose effect is their functions'; datasets, which describe
// elements and draw none; and ops that return the same results whenever they run. Ops that only draw random numbers have the
// effect Random, and no order either.
const orderDoesntShow = `Case If While StatefulPartitionedCall
	CacheDatasetV2 ExperimentalGroupByReducerDataset GlobalShuffleDataset GroupByReducerDataset ListDataset RangeDataset
	SparseTensorSliceDataset TensorDataset TensorSliceDataset
	ConvertToCooTensor DeepCopy DeviceIndex DummyMemoryCache DummySeedGenerator Empty ExperimentalIteratorGetDevice GuaranteeConst
	IteratorGetDevice StatelessRandomGetAlg SyncDevice
	XlaSparseCoreAdagrad XlaSparseCoreAdagradMomentum XlaSparseCoreAdam XlaSparseCoreFtrl XlaSparseCoreSgd`
