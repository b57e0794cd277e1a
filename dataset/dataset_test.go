package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// numbers returns a dataset of the scalars 0 to n-1.
func numbers(n int) *Dataset[*tensor.Tensor] {
	v := make([]int32, n)
	for i := range v {
		v[i] = int32(i)
	}
	return FromSlices(tensor.Vector(v...))
}

// collect lists the elements of a dataset, batches as slices.
func collect(t testing.TB, d *Dataset[*tensor.Tensor]) [][]int32 {
	t.Helper()
	var all [][]int32
	for v, err := range d.All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, slices.Clone(tensor.Values[int32](v)))
	}
	return all
}

func flat(all [][]int32) []int32 { return slices.Concat(all...) }

func TestStepsGiveTheirElements(t *testing.T) {
	double := func(_ context.Context, v *tensor.Tensor) (*tensor.Tensor, error) {
		x, err := tensor.Item[int32](v)
		return tensor.Scalar(2 * x), err
	}
	odd := func(v *tensor.Tensor) bool { return tensor.Values[int32](v)[0]%2 == 1 }
	drop := &BatchOptions{DropRemainder: true}
	tests := []struct {
		name string
		d    *Dataset[*tensor.Tensor]
		want [][]int32
		len  int // -1: not known
	}{
		{"slices", numbers(3), [][]int32{{0}, {1}, {2}}, 3},
		{"empty", numbers(0), nil, 0},
		{"batch of slices", numbers(5).Batch(2, nil), [][]int32{{0, 1}, {2, 3}, {4}}, 3},
		{"batch drops", numbers(5).Batch(2, drop), [][]int32{{0, 1}, {2, 3}}, 2},
		{"repeat then batch", numbers(3).Repeat(2).Batch(4, nil), [][]int32{{0, 1, 2, 0}, {1, 2}}, 2},
		{"repeat then batch drops", numbers(3).Repeat(2).Batch(4, drop), [][]int32{{0, 1, 2, 0}}, 1},
		{"batch then repeat", numbers(3).Batch(2, nil).Repeat(2), [][]int32{{0, 1}, {2}, {0, 1}, {2}}, 4},
		{"repeat 0", numbers(3).Repeat(0), nil, 0},
		{"repeat for ever, taken", numbers(2).Repeat(-1).Take(5), [][]int32{{0}, {1}, {0}, {1}, {0}}, 5},
		{"repeat for ever of nothing", numbers(0).Repeat(-1), nil, 0},
		{"take more than there is", numbers(2).Take(5), [][]int32{{0}, {1}}, 2},
		{"skip", numbers(4).Skip(3), [][]int32{{3}}, 1},
		{"skip all", numbers(4).Skip(9), nil, 0},
		{"map", numbers(3).Map(double), [][]int32{{0}, {2}, {4}}, 3},
		{"filter", numbers(5).Filter(odd), [][]int32{{1}, {3}}, -1},
		{"prefetch", numbers(5).Prefetch(2), [][]int32{{0}, {1}, {2}, {3}, {4}}, 5},
		{"cache", numbers(3).Map(double).Cache().Repeat(2), [][]int32{{0}, {2}, {4}, {0}, {2}, {4}}, 6},
		{"batch of batches", numbers(4).Batch(2, nil).Batch(2, nil), [][]int32{{0, 1, 2, 3}}, 1},
		{"shuffle of one", numbers(3).Shuffle(1, nil), [][]int32{{0}, {1}, {2}}, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, collect(t, tt.d)); diff != "" {
				t.Errorf("elements (-want +got):\n%s", diff)
			}
			n, ok := tt.d.Len()
			if !ok {
				n = -1
			}
			if n != int64(tt.len) {
				t.Errorf("Len is %d, want %d", n, tt.len)
			}
		})
	}
}

type pair struct {
	X     *ops.Value
	Inner struct{ Y *tensor.Tensor }
}

func TestElementsOfStructsKeepTheirFieldsTogether(t *testing.T) {
	var p pair
	p.X = ops.ValueOf(tensor.Must(tensor.New([]float32{1, 2, 3, 4, 5, 6}, 3, 2)))
	p.Inner.Y = tensor.Vector("a", "b", "c")
	for _, d := range []*Dataset[pair]{FromSlices(p).Batch(2, nil), FromSlices(p).Repeat(1).Batch(2, nil)} {
		var got []string
		for b, err := range d.All(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			x, err := b.X.Tensor()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(x.Shape(), tensor.Values[float32](x), b.Inner.Y.Shape(), tensor.Values[string](b.Inner.Y)))
		}
		want := []string{"[2,2] [1 2 3 4] [2] [a b]", "[1,2] [5 6] [1] [c]"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("batches (-want +got):\n%s", diff)
		}
	}
}

func TestShuffleHasEveryElementOnceAPassAndItsOwnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "n")
		buffer := rapid.IntRange(1, 50).Draw(t, "buffer")
		seed := rapid.Uint64Range(1, 9).Draw(t, "seed")
		base := numbers(n).Shuffle(buffer, &ShuffleOptions{Seed: seed})
		var got []int32
		for v, err := range base.Repeat(3).All(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, tensor.Values[int32](v)[0])
		}
		for pass := range 3 {
			part := got[pass*n : (pass+1)*n]
			var epoch []int32
			for v, err := range base.Epoch(pass).All(context.Background()) {
				if err != nil {
					t.Fatal(err)
				}
				epoch = append(epoch, tensor.Values[int32](v)[0])
			}
			if !slices.Equal(part, epoch) {
				t.Fatalf("pass %d of Repeat is %v, Epoch(%d) is %v", pass, part, pass, epoch)
			}
			for i, v := range part {
				if i < int(v)-buffer+1 {
					t.Fatalf("element %d came at %d, more than the buffer of %d early", v, i, buffer)
				}
			}
			sorted := slices.Sorted(slices.Values(part))
			for i, v := range sorted {
				if int(v) != i {
					t.Fatalf("pass %d gives %v", pass, part)
				}
			}
		}
	})
	d := numbers(100).Shuffle(100, &ShuffleOptions{Seed: 3})
	if slices.Equal(flat(collect(t, d.Epoch(0))), flat(collect(t, d.Epoch(1)))) {
		t.Error("two passes have the same order")
	}
	same := numbers(100).Shuffle(100, &ShuffleOptions{Seed: 3, SameOrder: true})
	if !slices.Equal(flat(collect(t, same.Epoch(0))), flat(collect(t, same.Epoch(1)))) {
		t.Error("SameOrder gives two passes different orders")
	}
	// The order must not change, since checkpoints depend on it.
	want := []int32{0, 2, 3, 4, 6, 7, 1, 5}
	if got := flat(collect(t, numbers(8).Shuffle(3, &ShuffleOptions{Seed: 7}))); !slices.Equal(got, want) {
		t.Errorf("seed 7 gives %v, want %v as ever", got, want)
	}
}

// TestIteratorResumesAnywhere stops random pipelines at random places, moves
// the state to a fresh iterator and expects it to go on as the first one does.
func TestIteratorResumesAnywhere(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		d := numbers(rapid.IntRange(0, 12).Draw(t, "n"))
		elements := true // no batch yet
		for range rapid.IntRange(0, 5).Draw(t, "steps") {
			switch rapid.IntRange(0, 8).Draw(t, "step") {
			case 0:
				d = d.Repeat(rapid.IntRange(0, 3).Draw(t, "times"))
			case 1:
				if elements {
					d = d.Batch(rapid.IntRange(1, 4).Draw(t, "batch"), &BatchOptions{DropRemainder: rapid.Bool().Draw(t, "drop")})
					elements = false
				}
			case 2:
				d = d.Shuffle(rapid.IntRange(1, 15).Draw(t, "buffer"), &ShuffleOptions{Seed: rapid.Uint64Range(0, 3).Draw(t, "seed")})
			case 3:
				d = d.Take(rapid.IntRange(0, 20).Draw(t, "take"))
			case 4:
				d = d.Skip(rapid.IntRange(0, 5).Draw(t, "skip"))
			case 5:
				d = d.Filter(func(v *tensor.Tensor) bool { return tensor.Values[int32](v)[0]%3 != 1 })
			case 6:
				d = d.Map(func(_ context.Context, v *tensor.Tensor) (*tensor.Tensor, error) {
					c := v.Clone()
					for i := range tensor.Values[int32](c) {
						tensor.Values[int32](c)[i] += 7
					}
					return c, nil
				})
			case 7:
				d = d.Prefetch(rapid.IntRange(1, 4).Draw(t, "ahead"))
			case 8:
				d = d.Cache()
			}
		}
		first := d.Iterator()
		for range rapid.IntRange(0, 30).Draw(t, "taken") {
			if _, err := first.Next(ctx); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		state := func(it *Iterator[*tensor.Tensor]) map[string]*tensor.Tensor {
			attrs, err := it.SerializeToTensors()
			if err != nil {
				t.Fatal(err)
			}
			return map[string]*tensor.Tensor{attrs[0].Name: attrs[0].Tensor}
		}
		second := d.Iterator()
		if err := second.RestoreFromTensors(state(first)); err != nil {
			t.Fatal(err)
		}
		// Saved again before the first Next: nothing is lost.
		third := d.Iterator()
		if err := third.RestoreFromTensors(state(second)); err != nil {
			t.Fatal(err)
		}
		for i := 0; ; i++ {
			a, errA := first.Next(ctx)
			b, errB := third.Next(ctx)
			if errors.Is(errA, io.EOF) && errors.Is(errB, io.EOF) {
				break
			}
			if errA != nil || errB != nil {
				t.Fatalf("element %d after the place: %v and, restored, %v", i, errA, errB)
			}
			if !a.Equal(b) {
				t.Fatalf("element %d after the place is %v, restored %v", i, a, b)
			}
		}
	})
}

func TestIteratorStateIsSmallAndFrozen(t *testing.T) {
	it := numbers(1000).Shuffle(1000, &ShuffleOptions{Seed: 5}).Batch(10, nil).Repeat(-1).Iterator()
	for range 150 {
		if _, err := it.Next(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	attrs, err := it.SerializeToTensors()
	if err != nil {
		t.Fatal(err)
	}
	got := tensor.Values[string](attrs[0].Tensor)[0]
	want := "CDI1" + string(rune(len("slices(1000).shuffle(1000).batch(10).repeat(-1)"))) + "slices(1000).shuffle(1000).batch(10).repeat(-1)" +
		"\x00" + // no shuffle needs a seed
		"\x02\x01" + // second pass, begun
		"\x05\x01" + // seed and stream
		"\xe8\x07\xf4\x03\x01" + // 1000 pulled, 500 dealt, end seen
		"\x01\x00" // the source's origin
	if got != want {
		t.Errorf("state %q, want %q", got, want)
	}
}

func TestIteratorRefusesWhatIsNoPlaceOfIts(t *testing.T) {
	d := numbers(10).Shuffle(4, &ShuffleOptions{Seed: 1}).Repeat(2)
	good, err := d.Iterator().SerializeToTensors()
	if err != nil {
		t.Fatal(err)
	}
	s := tensor.Values[string](good[0].Tensor)[0]
	head := s[:len(s)-2]
	for name, state := range map[string]*tensor.Tensor{
		"none":               nil,
		"number":             tensor.Scalar[int64](3),
		"empty":              tensor.Scalar(""),
		"other magic":        tensor.Scalar("XXXX" + s[4:]),
		"cut in the text":    tensor.Scalar(s[:9]),
		"cut in the numbers": tensor.Scalar(head),
		"too long":           tensor.Scalar(s + "x"),
		"pass out of range":  tensor.Scalar(head + "\x05\x00"),
		"begun pass 0":       tensor.Scalar(head + "\x00\x01"),
		"dealt too many":     tensor.Scalar(head + "\x01\x01" + "\x01\x00" + "\x0a\x0b\x01" + "\x01\x00"),
		"pulled too many":    tensor.Scalar(head + "\x01\x01" + "\x01\x00" + "\x0b\x0b\x01" + "\x01\x00"),
		"huge":               tensor.Scalar(head + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00"),
	} {
		t.Run(name, func(t *testing.T) {
			it := d.Iterator()
			m := map[string]*tensor.Tensor{}
			if state != nil {
				m[StateAttribute] = state
			}
			err := it.RestoreFromTensors(m)
			if err == nil {
				_, err = it.Next(context.Background())
			}
			if !errors.Is(err, ErrState) {
				t.Errorf("error %v, want ErrState", err)
			}
		})
	}
	other := numbers(11).Shuffle(4, &ShuffleOptions{Seed: 1}).Repeat(2).Iterator()
	if err := other.RestoreFromTensors(map[string]*tensor.Tensor{StateAttribute: good[0].Tensor}); !errors.Is(err, ErrState) {
		t.Errorf("another pipeline: error %v, want ErrState", err)
	}
}

func TestFaultsComeOutWhereTheDatasetIsIterated(t *testing.T) {
	type hidden struct{ x *tensor.Tensor }
	_ = hidden{}.x
	vec := func(n int) *tensor.Tensor { return tensor.Must(tensor.Zeros(tensor.Float32, n)) }
	for name, err := range map[string]error{
		"batch 0":          numbers(3).Batch(0, nil).Err(),
		"shuffle 0":        numbers(3).Shuffle(0, nil).Err(),
		"prefetch 0":       numbers(3).Prefetch(0).Err(),
		"take -1":          numbers(3).Take(-1).Err(),
		"skip -1":          numbers(3).Skip(-1).Err(),
		"cache for ever":   numbers(3).Repeat(-1).Cache().Err(),
		"scalar":           FromSlices(tensor.Scalar[int32](1)).Err(),
		"nil":              FromSlices[*tensor.Tensor](nil).Err(),
		"unequal rows":     FromSlices(struct{ A, B *tensor.Tensor }{vec(2), vec(3)}).Err(),
		"no tensor":        FromSlices(struct{}{}).Err(),
		"int":              FromSlices(5).Err(),
		"field of int":     FromSlices(struct{ N int }{5}).Err(),
		"unexported field": FromSlices(hidden{vec(2)}).Err(),
		"later steps":      numbers(3).Batch(0, nil).Repeat(2).Err(),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	n := 0
	for _, err := range numbers(3).Batch(0, nil).All(context.Background()) {
		if n++; err == nil {
			t.Error("a batch of 0 gives elements")
		}
	}
	if n != 1 {
		t.Errorf("the error came %d times", n)
	}
	ragged := FromSeq(func(context.Context) iter.Seq2[*tensor.Tensor, error] {
		return func(yield func(*tensor.Tensor, error) bool) {
			_ = yield(vec(2), nil) && yield(vec(3), nil)
		}
	}).Batch(2, nil)
	if _, err := ragged.Iterator().Next(context.Background()); err == nil {
		t.Error("a batch of unequal shapes is no error")
	}
}

func TestErrorsAndPanicsOfFunctionsEndTheIteration(t *testing.T) {
	boom := errors.New("boom")
	bad := numbers(5).Map(func(_ context.Context, v *tensor.Tensor) (*tensor.Tensor, error) {
		if x := tensor.Values[int32](v)[0]; x == 2 {
			return nil, boom
		}
		return v, nil
	})
	for name, d := range map[string]*Dataset[*tensor.Tensor]{"plain": bad, "prefetch": bad.Prefetch(3), "shuffle": bad.Shuffle(2, nil), "cache": bad.Cache()} {
		var last error
		for _, err := range d.All(context.Background()) {
			last = err
		}
		if !errors.Is(last, boom) {
			t.Errorf("%s: last error %v, want boom", name, last)
		}
	}
	p := numbers(2).Map(func(context.Context, *tensor.Tensor) (*tensor.Tensor, error) { panic("oops") }).Prefetch(1)
	if _, err := p.Iterator().Next(context.Background()); err == nil {
		t.Error("a panic in the filling goroutine is no error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range numbers(2).All(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v after cancel", err)
		}
	}
}

func TestMapChangesTheType(t *testing.T) {
	d := Map(numbers(3), func(_ context.Context, v *tensor.Tensor) (string, error) {
		return fmt.Sprint(tensor.Values[int32](v)[0]), nil
	})
	var got []string
	for s, err := range d.All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, s)
	}
	if !slices.Equal(got, []string{"0", "1", "2"}) {
		t.Errorf("got %q", got)
	}
}

func FuzzIteratorState(f *testing.F) {
	d := numbers(10).Shuffle(4, &ShuffleOptions{Seed: 1}).Batch(2, nil).Repeat(2).Skip(1).Take(7).Prefetch(2)
	it := d.Iterator()
	for range 4 {
		attrs, err := it.SerializeToTensors()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(tensor.Values[string](attrs[0].Tensor)[0])
		if _, err := it.Next(context.Background()); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, state string) {
		it := d.Iterator()
		if it.RestoreFromTensors(map[string]*tensor.Tensor{StateAttribute: tensor.Scalar(state)}) != nil {
			return
		}
		ctx := context.Background()
		for range 20 {
			if _, err := it.Next(ctx); err != nil {
				return
			}
		}
	})
}

// TestAbandonedSequencesEnd checks that a loop that is left early soon ends its
// goroutine.
func TestAbandonedSequencesEnd(t *testing.T) {
	ended := make(chan struct{}, 1)
	endless := FromSeq(func(context.Context) iter.Seq2[*tensor.Tensor, error] {
		return func(yield func(*tensor.Tensor, error) bool) {
			defer func() { ended <- struct{}{} }()
			for yield(tensor.Scalar[int32](1), nil) {
			}
		}
	})
	for range endless.All(context.Background()) {
		break
	}
	for range 100 {
		runtime.GC()
		select {
		case <-ended:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
	t.Error("the sequence still waits to be pulled")
}

// TestAPlaceOfAnotherPipelineChangesNothing: the place of batches of four
// doesn't fit an iterator over batches of five. The restore reports that before
// it changes a variable. The iterator can be left out.
func TestAPlaceOfAnotherPipelineChangesNothing(t *testing.T) {
	ctx := context.Background()
	type run struct {
		Step *trackable.Scalar[int64]
		Data *Iterator[*tensor.Tensor]
	}
	make := func(size int) (*run, *checkpoint.Checkpoint) {
		data := FromSlices(tensor.Vector[float32](1, 2, 3, 4, 5, 6, 7, 8, 9, 10)).Batch(size, nil)
		r := &run{trackable.NewScalar[int64](0), data.Iterator()}
		ck, err := checkpoint.New(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r, ck
	}
	old, ck := make(4)
	old.Step.Set(7)
	if _, err := old.Data.Next(ctx); err != nil {
		t.Fatal(err)
	}
	dir := vfs.MemDir()
	if err := ck.WriteTo(ctx, dir, "ckpt"); err != nil {
		t.Fatal(err)
	}
	r, ck := make(5)
	r.Step.Set(3)
	_, err := ck.ReadFS(ctx, dir, "ckpt", nil)
	var refused *checkpoint.RestoreError
	if !errors.As(err, &refused) || !errors.Is(err, ErrState) || len(refused.Mismatched) != 1 || refused.Mismatched[0].Path != "data" {
		t.Errorf("error %v, want the iterator refused", err)
	}
	if got := r.Step.Get(); got != 3 {
		t.Errorf("step is %d after the refusal, was 3", got)
	}
	if err := ck.WriteTo(ctx, vfs.MemDir(), "ckpt"); err != nil {
		t.Error(err) // nothing is half written
	}
	report, err := ck.ReadFS(ctx, dir, "ckpt", &checkpoint.RestoreOptions{SkipIterators: true})
	if err != nil || r.Step.Get() != 7 || len(report.Missing)+len(report.Unused)+len(report.Deferred) > 0 {
		t.Errorf("without iterators: %v, %v, step %d", report, err, r.Step.Get())
	}
	if x, err := r.Data.Next(ctx); err != nil || x.Shape()[0] != 5 {
		t.Errorf("the iterator gives %v, %v", x, err)
	}
}

// TestABatchThatAnErrorCutOffIsReadAgain checks that a place saved after an error in the
// middle of a batch is that before the batch, of which no element was returned.
func TestABatchThatAnErrorCutOffIsReadAgain(t *testing.T) {
	boom, ctx := errors.New("boom"), context.Background()
	fails := true
	d := numbers(6).Map(func(_ context.Context, v *tensor.Tensor) (*tensor.Tensor, error) {
		if fails && tensor.Values[int32](v)[0] == 4 {
			return nil, boom
		}
		return v, nil
	}).Batch(3, nil)
	it := d.Iterator()
	if _, err := it.Next(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := it.Next(ctx); !errors.Is(err, boom) {
		t.Fatalf("error %v, want boom", err)
	}
	state, err := it.SerializeToTensors()
	if err != nil {
		t.Fatal(err)
	}
	fails = false
	for name, again := range map[string]*Iterator[*tensor.Tensor]{"another iterator": d.Iterator(), "the same iterator": it} {
		if err := again.RestoreFromTensors(map[string]*tensor.Tensor{state[0].Name: state[0].Tensor}); err != nil {
			t.Fatal(err)
		}
		v, err := again.Next(ctx)
		if err != nil || !slices.Equal(tensor.Values[int32](v), []int32{3, 4, 5}) {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
}

// TestPrefetchEndsWithTheContext checks that Next doesn't wait for a slow source after its
// context ends, and that the element stays for the next call.
func TestPrefetchEndsWithTheContext(t *testing.T) {
	slow := make(chan struct{})
	it := numbers(2).Map(func(_ context.Context, v *tensor.Tensor) (*tensor.Tensor, error) {
		<-slow
		return v, nil
	}).Prefetch(1).Iterator()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := it.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	close(slow)
	v, err := it.Next(context.Background())
	if err != nil || tensor.Values[int32](v)[0] != 0 {
		t.Errorf("%v, %v", v, err)
	}
}
