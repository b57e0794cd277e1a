package main

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// verb is a work that a peer does when asked.
type verb func(context.Context) error

// timed returns the seconds that f takes.
func timed(f func() error) (float64, error) {
	begin := time.Now()
	err := f()
	return time.Since(begin).Seconds(), err
}

// bePeer answers the lines of standard input as the peer of that name, in the protocol of the
// package's comment. An error ends it.
func bePeer(ctx context.Context, name string, args []string) error {
	verbs := map[string]verb{}
	find := func(line string) verb { return verbs[line] }
	var figure func(line string) (float64, error) // answers every line
	figures := map[string]func() (float64, error){"cores": func() (float64, error) { return twoCores(ctx) }}
	switch name {
	case "steps":
		for _, st := range steps {
			verbs[st.verb] = st.make()
		}
		figures["memory"] = func() (float64, error) { return chainMemory(ctx, chained) }
	case "fit":
		for _, st := range fits {
			verbs[st.verb] = st.make()
		}
	case "keras", "bytes":
		if len(args) != 1 {
			return fmt.Errorf("peer %s takes a directory", name)
		}
		verbs = kerasFileVerbs(args[0], name == "bytes")
		figures["memory"] = func() (float64, error) { return aboveWeights(filepath.Join(args[0], application)) }
	case "ops":
		if len(args) != 1 {
			return fmt.Errorf("peer %s takes a directory", name)
		}
		ops, err := opVerbs(ctx, args[0])
		if err != nil {
			return err
		}
		figure = ops
	case "peak":
		find = peakVerb
	case "infer":
		if len(args) != 3 {
			return fmt.Errorf("peer %s takes a directory and two counts", name)
		}
		var calls [2]int
		for i := range calls {
			var err error
			if calls[i], err = strconv.Atoi(args[i+1]); err != nil {
				return err
			}
		}
		var err error
		if verbs, figures["memory"], err = inferVerbs(ctx, args[0], calls); err != nil {
			return err
		}
		figures["loading"] = func() (float64, error) { return loadingPeak(ctx, args[0]) }
	case "cairn", "raw":
		if len(args) != 2 {
			return fmt.Errorf("peer %s takes a directory and a kind", name)
		}
		folder := args[0]
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return err
		}
		values := tensors(args[1])
		if name == "raw" {
			verbs["save"], verbs["restore"] = rawVerbs(folder, values)
			rawFileVerbs(filepath.Join(folder, "raw"), verbs)
			break
		}
		var err error
		if verbs["save"], verbs["restore"], err = cairnVerbs(folder, values); err != nil {
			return err
		}
		fileVerbs(folder, verbs)
		base, err := residentNow()
		if err != nil {
			return err
		}
		figures["memory"] = func() (float64, error) {
			peak, err := residentPeak()
			return float64(peak-base) / (1 << 20), err
		}
		figures["forget"] = func() (float64, error) { return 0, forgetPeak() }
	default:
		return fmt.Errorf("no peer is called %q", name)
	}
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var answer float64
		var err error
		switch v := find(lines.Text()); {
		case figure != nil:
			answer, err = figure(lines.Text())
		case figures[lines.Text()] != nil:
			answer, err = figures[lines.Text()]()
		case v != nil:
			answer, err = timed(func() error { return v(ctx) })
		default:
			err = fmt.Errorf("no verb is called %q", lines.Text())
		}
		if err != nil {
			return err
		}
		fmt.Println(answer)
	}
	return lines.Err()
}

// tensors returns the work's values: 100 of 10 MiB, 10,000 or 100,000 of 1 KiB,
// or one of as many bytes as the latter. The Python peers make the same sizes for a kind.
func tensors(kind string) []*tensor.Tensor {
	n, shape := 100, []int{1024, 2560}
	switch kind {
	case "many":
		n, shape = 10_000, []int{256}
	case "most":
		n, shape = 100_000, []int{256}
	case "one":
		n, shape = 1, []int{100_000, 256}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	all := make([]*tensor.Tensor, n)
	for i := range all {
		t := tensor.Must(tensor.Zeros(tensor.Float32, shape...))
		v := tensor.Values[float32](t)
		for j := range v {
			v[j] = rng.Float32()
		}
		all[i] = t
	}
	return all
}

// looked is about the number of variables that are checked after a restore; every
// contender checks that it read their values. Checking very many would take time.
const looked = 100

// model has its variables in a list, as the TensorFlow peer's module.
type model struct{ V []*trackable.Variable }

// cairnVerbs returns the verbs of a checkpoint "ck" in directory.
func cairnVerbs(folder string, values []*tensor.Tensor) (save, restore verb, err error) {
	m := new(model)
	for _, t := range values {
		m.V = append(m.V, trackable.NewVariable(t))
	}
	ckpt, err := checkpoint.New(&struct{ Model *model }{m}, nil)
	if err != nil {
		return nil, nil, err
	}
	prefix := filepath.Join(folder, "ck")
	save = func(ctx context.Context) error { return ckpt.Write(ctx, prefix) }
	restore = func(ctx context.Context) error {
		report, err := ckpt.Read(ctx, prefix, nil)
		if err != nil {
			return err
		}
		if err := report.AssertConsumed(); err != nil {
			return err
		}
		var sum float32
		for i := 0; i < len(m.V); i += max(1, len(m.V)/looked) {
			t, lease := m.V[i].Lease()
			sum += tensor.Values[float32](t)[0]
			lease.Release()
		}
		if sum == 0 {
			return fmt.Errorf("the values that were read are all zero")
		}
		return nil
	}
	return save, restore, nil
}

// rawVerbs returns verbs that write the bytes one after another and sync once, and that
// read them back: the machine's limit.
func rawVerbs(folder string, values []*tensor.Tensor) (save, restore verb) {
	path := filepath.Join(folder, "raw")
	save = func(context.Context) error {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		defer f.Close()
		for _, t := range values {
			if _, err := f.Write(t.Bytes()); err != nil {
				return err
			}
		}
		return f.Sync()
	}
	restore = func(context.Context) error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		var at int64
		for _, t := range values {
			n, err := f.ReadAt(t.Bytes(), at)
			if err != nil {
				return err
			}
			at += int64(n)
		}
		return nil
	}
	return save, restore
}
