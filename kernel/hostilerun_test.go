//go:build linux && (amd64 || arm64)

package kernel_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/internal/testkit/processor"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/trackable"
)

const (
	// hostileProcess is the environment variable that makes the test binary the process
	// that calls the kernels; its value is the name of a file with the places of a run.
	hostileProcess = "CAIRN_TEST_HOSTILE_PROCESS"
	// hostileCount is the environment variable with the number of calls to make, all ops
	// together. Default: shortHostile.
	hostileCount = "CAIRN_HOSTILE_CALLS"
	// hostileOnly is the environment variable with a pattern of the ops to call, or one
	// call, "Op/number".
	hostileOnly = "CAIRN_HOSTILE_ONLY"

	shortHostile = 10_000

	hostileSpace  = 3 << 20               // address space of the process that calls, in KiB
	hostileMemory = 64 << 20              // memory of a call, in bytes
	hostileOutput = 32 << 20              // memory of an output, in bytes
	hostileHeap   = 3 * hostileMemory     // of live and dead objects that a call makes
	hostileTime   = 15 * time.Millisecond // until a call's context ends
)

// hostileGrace is the time that a call may work after its context's end. After
// hostileHang the call counts as hanging. A short run, on a machine that may be
// busy or slow, only finds calls that don't end.
var hostileGrace, hostileHang = func() (grace, hang time.Duration) {
	if os.Getenv(hostileCount) != "" {
		return 100 * time.Millisecond, 4 * time.Second
	}
	return 2 * time.Second, time.Minute
}()

// TestHostileCalls calls all kernels with inputs that don't occur by accident,
// in a process of limited address space. A call returns outputs or an error: it
// doesn't panic, takes no more memory than it may, and ends soon after its
// context.
func TestHostileCalls(t *testing.T) {
	if state := os.Getenv(hostileProcess); state != "" {
		makeHostileCalls(t, state)
		return
	}
	if detector.Racing {
		t.Skip("the race detector needs all address space")
	}
	each := (shortHostile + kernel.All().Len() - 1) / kernel.All().Len()
	if n, err := strconv.Atoi(os.Getenv(hostileCount)); err == nil {
		each = max(1, n/kernel.All().Len())
	}
	first := uint64(0)
	if n, err := strconv.ParseUint(os.Getenv("CAIRN_HOSTILE_FIRST"), 10, 63); err == nil {
		first = n
	}
	state := filepath.Join(t.TempDir(), "state")
	run := hostileRun{Seed: first, First: first, End: first + uint64(each)}
	calls, findings := 0, map[string]int{}
	for !run.done() {
		at := run
		next, found := hostileProcessFrom(t, state, run)
		calls += next.callsSince(at)
		for _, f := range found {
			op, _, _ := strings.Cut(f, "/")
			if findings[op]++; findings[op] <= 3 {
				t.Error(f)
			}
		}
		run = next
	}
	t.Logf("%d calls", calls)
}

// hostileRun is the place of the next call of a run: all numbers of an op, then the next op.
type hostileRun struct{ Op, Seed, First, End uint64 }

func (r hostileRun) done() bool { return r.Op >= uint64(kernel.All().Len()) }

func (r hostileRun) next() hostileRun {
	if r.Seed++; r.Seed >= r.End {
		r.Op, r.Seed = r.Op+1, r.First
	}
	return r
}

func (r hostileRun) callsSince(o hostileRun) int {
	n := r.End - r.First
	return int(r.Op*n+r.Seed-r.First) - int(o.Op*n+o.Seed-o.First)
}

func (r hostileRun) bytes() []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, r)
	return b
}

// hostileProcessFrom makes calls in another process until it is done or ends
// early. It returns the next call and the faults found.
func hostileProcessFrom(t *testing.T, state string, run hostileRun) (next hostileRun, found []string) {
	t.Helper()
	if err := os.WriteFile(state, run.bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", fmt.Sprintf(`ulimit -v %d; exec "$0" -test.run='^TestHostileCalls$' -test.v -test.timeout=0`, hostileSpace), os.Args[0])
	cmd.Env = append(os.Environ(), hostileProcess+"="+state, "GOTRACEBACK=all", "GOMAXPROCS=2")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go quitIfStuck(cmd, state, ended)
	done, again := false, false
	in := bufio.NewScanner(out)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		word, rest, _ := strings.Cut(in.Text(), "\t")
		switch word {
		case "found":
			found = append(found, rest)
		case "done":
			done = true
		case "again":
			again = true
		}
	}
	_ = cmd.Wait()
	close(ended)
	if done {
		run.Op = uint64(kernel.All().Len())
		run.Seed = run.First
		return run, found
	}
	b, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := binary.Decode(b, binary.LittleEndian, &run); err != nil {
		t.Fatal(err)
	}
	if again {
		return run, found
	}
	if run.done() {
		t.Fatalf("the process ended: %s", stderr.String())
	}
	if cmd.ProcessState.ExitCode() != exitOfHang {
		name := fmt.Sprintf("%s/%d", kernel.All().Ops()[run.Op], run.Seed)
		first, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		if strings.Contains(first, "SIGQUIT") {
			t.Logf("%s made no progress for %v: %s", name, hostileStuck, stderr.String())
		}
		found = append(found, fmt.Sprintf("%s: the process ended: %s: %s", name, first, frames(stderr.String())))
	}
	return run.next(), found
}

// hostileStuck is the time after which the process is asked for its goroutines, if it
// has not begun another call. Its own watchdog sees calls only, and may be stopped too.
var hostileStuck = hostileHang + time.Minute

// quitIfStuck ends the process, which then prints all its goroutines, if the place of the
// run stays the same for hostileStuck.
func quitIfStuck(cmd *exec.Cmd, state string, ended <-chan struct{}) {
	var last []byte
	since := time.Now()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		b, err := os.ReadFile(state)
		switch {
		case err != nil:
			return
		case !bytes.Equal(b, last):
			last, since = b, time.Now()
		case time.Since(since) > hostileStuck:
			_ = cmd.Process.Signal(syscall.SIGQUIT)
			return
		}
	}
}

const exitOfHang = 3

// running is the watchdog's record of the running call.
type running struct {
	name   string
	began  time.Time
	before uint64                 // bytes of the heap when it began
	stack  atomic.Pointer[string] // of a call that is late
	heap   atomic.Uint64          // the most bytes above that
}

func makeHostileCalls(t *testing.T, state string) {
	b, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	var run hostileRun
	if _, err := binary.Decode(b, binary.LittleEndian, &run); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(state, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	debug.SetGCPercent(100)
	debug.SetMemoryLimit(512 << 20)
	calls := newHostileCalls(t)
	for _, op := range kernel.All().Ops() {
		kernel.All().Definition(op) // read once, at the first question
	}
	var now atomic.Pointer[running]
	go watch(&now)
	only := regexp.MustCompile(".*")
	if s := os.Getenv(hostileOnly); s != "" {
		name, number, one := strings.Cut(s, "/")
		only = regexp.MustCompile("^(" + name + ")$")
		if one {
			seed, _ := strconv.ParseUint(number, 10, 63)
			calls.makeOne(&now, name, seed, true)
			fmt.Println("done\t")
			return
		}
	}
	ops := kernel.All().Ops()
	for ; !run.done(); run = run.next() {
		if !only.MatchString(ops[run.Op]) {
			continue
		}
		if _, err := file.WriteAt(run.bytes(), 0); err != nil {
			t.Fatal(err)
		}
		calls.makeOne(&now, ops[run.Op], run.Seed, false)
		if liveHeap() > hostileKept {
			// Prepared kernels of earlier calls make collections slow, so another process continues.
			run = run.next()
			if _, err := file.WriteAt(run.bytes(), 0); err != nil {
				t.Fatal(err)
			}
			fmt.Println("again\t")
			return
		}
	}
	fmt.Println("done\t")
}

// hostileKept is the most memory that the process may hold after a call.
const hostileKept = 160 << 20

// liveHeap returns the bytes of objects that the last collection found in use.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// watch notes the stacks of a call that doesn't end, and ends the process if it hangs.
func watch(now *atomic.Pointer[running]) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for range time.Tick(5 * time.Millisecond) {
		c := now.Load()
		if c == nil {
			continue
		}
		metrics.Read(sample)
		if n := sample[0].Value.Uint64(); n > c.before {
			c.heap.Store(max(c.heap.Load(), n-c.before))
		}
		late := time.Since(c.began) - hostileTime
		if late > hostileGrace && c.stack.Load() == nil {
			s := stacks()
			c.stack.Store(&s)
		}
		if late > hostileHang {
			fmt.Printf("found\t%s: runs %v after its context's end: %s\n", c.name, hostileHang, frames(*c.stack.Load()))
			os.Exit(exitOfHang)
		}
	}
}

func stacks() string {
	b := make([]byte, 1<<18)
	return string(b[:runtime.Stack(b, true)])
}

// frames returns the lines of kernels and the engine in a stack, innermost first.
func frames(stack string) string {
	var list []string
	for _, m := range regexp.MustCompile(`cairn/((?:kernel|engine|internal|tensor|graph)[^\s:]*\.go:\d+)`).FindAllStringSubmatch(stack, -1) {
		if !strings.Contains(m[1], "_test.go") && len(list) < 4 {
			list = append(list, m[1])
		}
	}
	return strings.Join(list, " < ")
}

// makeOne makes a call and reports its faults.
func (h *hostileCalls) makeOne(now *atomic.Pointer[running], op string, seed uint64, verbose bool) {
	c := h.call(op, seed)
	if c == nil {
		return
	}
	name := fmt.Sprintf("%s/%d", op, seed)
	if verbose {
		fmt.Printf("%s %v\n", name, c.attrs.Describe())
		for i, in := range c.in {
			switch {
			case in.tensor != nil:
				fmt.Printf("  input %d: %v%v %.200s\n", i, in.tensor.DType(), in.tensor.Shape(), fmt.Sprint(in.tensor))
			case in.value != nil:
				fmt.Printf("  input %d: a variable %v%v\n", i, in.value.DType(), in.value.Shape())
			default:
				fmt.Printf("  input %d: %s\n", i, in.make.op)
			}
		}
	}
	state := &running{name: name, began: time.Now()}
	var instance engine.Instance
	env := &engine.Env{MaxOutput: hostileOutput, Arena: engine.NewArena(), Instance: &instance, Log: discard{}}
	env.Arena.Limit = hostileMemory
	defer env.Arena.Close()
	ctx, cancel := context.WithTimeout(context.Background(), hostileTime)
	defer cancel()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	if metrics.Read(sample); sample[0].Value.Uint64() > 256<<20 {
		runtime.GC() // so that the heap's growth is this call's
		metrics.Read(sample)
	}
	state.before = sample[0].Value.Uint64()
	state.began = time.Now()
	now.Store(state)
	cpu := processor.Time()
	err := c.run(ctx, env)
	took, used := time.Since(state.began), processor.Time()-cpu
	now.Store(nil)
	if verbose {
		fmt.Printf("  %v in %v, processor %v, heap %d MiB\n", err, took, used, state.heap.Load()>>20)
	}
	var p *engine.PanicError
	if errors.As(err, &p) {
		fmt.Printf("found\t%s: panic: %v: %s\n", name, p.Value, frames(string(p.Stack)))
		if verbose {
			fmt.Println(string(p.Stack))
		}
	}
	if took > hostileTime+hostileGrace && used > hostileTime+hostileGrace {
		where := ""
		if s := state.stack.Load(); s != nil {
			where = frames(*s)
		}
		fmt.Printf("found\t%s: returned %v after its context's end: %s\n", name, took-hostileTime, where)
	}
	if n := state.heap.Load(); n > hostileHeap {
		fmt.Printf("found\t%s: the heap grew to %d MiB\n", name, n>>20)
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// run makes the call's inputs and runs its kernel.
func (c *hostileCall) run(ctx context.Context, env *engine.Env) error {
	in := make([]engine.Value, len(c.in))
	for i, x := range c.in {
		switch {
		case x.make != nil:
			v, err := x.make.run(env)
			if err != nil {
				return err
			}
			in[i] = v
		case x.value != nil:
			in[i] = engine.HandleOf(trackable.NewVariable(x.value.Clone()))
		default:
			in[i] = engine.ValueOf(x.tensor)
		}
	}
	p, err := kernel.All().PrepareEager(c.op, c.attrs, in)
	if err != nil {
		return err
	}
	var call engine.Runner
	call.Begin(ctx, env)
	for _, v := range in {
		call.Add(v)
	}
	return call.Run(p)
}
