//go:build linux && (amd64 || arm64)

package kernel_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/internal/testkit/opfixture"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// extentFrom is the environment variable that makes the test binary the process that
// calls the kernels: its value is the number of the first op.
const extentFrom = "CAIRN_TEST_EXTENT_FROM"

const (
	// extentMemory is the address space of the process that calls the kernels, in KiB.
	extentMemory = 4 << 20
	// extentBytes is the most memory that a call on tensors without elements may allocate.
	extentBytes = 32 << 20
	// extentTime is how long a call may take.
	extentTime = 2 * time.Second
	// extentGrace is how long a call may run after its context has ended.
	extentGrace = time.Second
)

// TestKernelsFollowElementsNotExtents calls every kernel with tensors without
// elements whose other dimensions are huge. It runs them in a process of
// limited address space, because an allocation that fails ends a Go program. A
// call may return a result or an error.
func TestKernelsFollowElementsNotExtents(t *testing.T) {
	if from := os.Getenv(extentFrom); from != "" {
		n, _ := strconv.Atoi(from)
		callWithHugeExtents(t, n)
		return
	}
	if runtime.GOOS != "linux" || math.MaxInt == math.MaxInt32 || detector.Racing {
		t.Skip("needs ulimit -v and 64 bits, and the race detector needs all address space")
	}
	calls := 0
	for from, n := 0, kernel.All().Len(); from < n; {
		at, found := extentProcess(t, from, &calls)
		for _, f := range found {
			t.Error(f)
		}
		from = at
	}
	if calls < 20_000 {
		t.Errorf("the other process made %d calls, want 20,000 or more", calls)
	}
}

// extentProcess calls the kernels from the given one on in another process. It
// returns the number of the next op and the faults found, and adds to calls.
func extentProcess(t *testing.T, from int, calls *int) (next int, found []string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", fmt.Sprintf(`ulimit -v %d; exec "$0" -test.run='^TestKernelsFollowElementsNotExtents$' -test.v`, extentMemory), os.Args[0])
	cmd.Env = append(os.Environ(), extentFrom+"="+strconv.Itoa(from), "GOTRACEBACK=none")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	at, call, done := from, "", false
	for in := bufio.NewScanner(out); in.Scan(); {
		word, rest, _ := strings.Cut(in.Text(), "\t")
		switch word {
		case "op":
			at, _ = strconv.Atoi(rest)
		case "call":
			call = rest
			*calls++
		case "found":
			found = append(found, rest)
		case "hang":
			return at + 1, append(found, rest)
		case "done":
			done = true
		}
	}
	if done {
		return math.MaxInt, found
	}
	first, _, _ := strings.Cut(stderr.String(), "\n")
	return at + 1, append(found, fmt.Sprintf("%s: the process ended: %s", call, first))
}

func callWithHugeExtents(t *testing.T, from int) {
	fixtures := opfixture.Load(t, "testdata/tf2.21")
	debug.SetGCPercent(50)
	for n, op := range kernel.All().Ops() {
		if n < from {
			continue
		}
		fmt.Printf("op\t%d\n", n)
		bad := 0
		for i, f := range fixtures[op] {
			if i == 5 || bad > 2 {
				break
			}
			for _, in := range hugeExtents(t, f) {
				if !callOnce(t, f, in) {
					if bad++; bad > 2 {
						break
					}
				}
			}
		}
	}
	fmt.Println("done\t")
}

// callOnce reports whether a call stayed within its bounds.
func callOnce(t *testing.T, f opfixture.Fixture, in []*tensor.Tensor) bool {
	name := f.Op
	for _, x := range in {
		name += fmt.Sprintf(" %v%v", x.DType(), x.Shape())
	}
	fmt.Printf("call\t%s\n", name)
	ctx, cancel := context.WithTimeout(context.Background(), extentTime)
	defer cancel()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	result := make(chan error, 1)
	go func() {
		s := function.Eager(ctx, &function.Options{MaxOutput: 1 << 26})
		var args []ops.Input
		for i, x := range in {
			if i < f.Vars {
				args = append(args, ops.Handle(s, trackable.NewVariable(x)))
			} else {
				args = append(args, x)
			}
		}
		s.Emit(f.Op, f.EngineAttrs(t), args...)
		result <- s.Err()
	}()
	select {
	case err := <-result:
		var p *engine.PanicError
		if errors.As(err, &p) {
			fmt.Printf("found\t%s: panic: %v\n", name, p.Value)
			return false
		}
	case <-time.After(extentTime + extentGrace):
		fmt.Printf("hang\t%s: runs after its context's end\n", name)
		os.Exit(3)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > extentBytes {
		fmt.Printf("found\t%s: took %d MiB\n", name, n>>20)
		return false
	}
	return true
}

// hugeExtents returns the inputs of a fixture in many forms in which some have no
// elements and a huge dimension.
func hugeExtents(t *testing.T, f opfixture.Fixture) (all [][]*tensor.Tensor) {
	var base []*tensor.Tensor
	var sizes []int
	for _, x := range f.In {
		v := x.Tensor(t)
		base = append(base, v)
		for _, d := range v.Shape() {
			if !slices.Contains(sizes, d) && len(sizes) < 5 {
				sizes = append(sizes, d)
			}
		}
	}
	add := func(change func(i int, v *tensor.Tensor) *tensor.Tensor) {
		in, changed := slices.Clone(base), false
		for i, v := range base {
			if w := change(i, v); w != nil {
				in[i], changed = w, true
			}
		}
		if changed {
			all = append(all, in)
		}
	}
	// One size of all inputs becomes zero, another one huge.
	for _, huge := range []int{1 << 40, 1 << 30} {
		for _, a := range sizes {
			for _, b := range sizes {
				if a != b {
					add(func(_ int, v *tensor.Tensor) *tensor.Tensor {
						dims, zero := v.Shape().Clone(), false
						for i, d := range dims {
							if d == a {
								dims[i], zero = 0, true
							} else if d == b {
								dims[i] = huge
							}
						}
						if !zero {
							return nil
						}
						return empty(v.DType(), dims)
					})
				}
			}
		}
	}
	// One or all inputs get a zero and a huge size at fixed places.
	for only := -1; only < len(base); only++ {
		for _, huge := range []int{1 << 40, 1 << 62, 1 << 30} {
			for zero := range 4 {
				for at := range 4 {
					if zero != at {
						add(func(i int, v *tensor.Tensor) *tensor.Tensor {
							if only >= 0 && i != only || max(zero, at) >= len(v.Shape()) {
								return nil
							}
							dims := v.Shape().Clone()
							dims[zero], dims[at] = 0, huge
							return empty(v.DType(), dims)
						})
					}
				}
			}
			if only >= 0 {
				add(func(i int, v *tensor.Tensor) *tensor.Tensor {
					if i != only {
						return nil
					}
					return empty(v.DType(), []int{huge, 0})
				})
			}
		}
		// A vector that may be a shape gets such sizes.
		add(func(i int, v *tensor.Tensor) *tensor.Tensor {
			if i != only || v.Len() < 2 || i < f.Vars {
				return nil
			}
			v = v.Clone()
			switch v.DType() {
			case tensor.Int32:
				copy(tensor.Values[int32](v), []int32{1 << 30, 0})
			case tensor.Int64:
				copy(tensor.Values[int64](v), []int64{1 << 40, 0})
			default:
				return nil
			}
			return v
		})
	}
	return all
}

// empty returns a tensor of a shape without elements, or nil if no tensor has
// the shape.
func empty(d tensor.DType, dims []int) *tensor.Tensor {
	v, err := tensor.Zeros(d, dims...)
	if err != nil || v.Len() > 0 {
		return nil
	}
	return v
}
