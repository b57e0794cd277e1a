package checkpoint

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// interop/kill_check.py runs the test below in batches over one directory, with
// these flags, and lets TensorFlow look at the directory after each.
var (
	killRounds = flag.Int("kill.rounds", 12, "how often TestKilledInALoopOfSaves kills a process that saves")
	killDir    = flag.String("kill.dir", "", "the directory that TestKilledInALoopOfSaves saves to and leaves (default: a temporary one)")
	turnDir    = flag.String("turn.dir", "", "the directory in which TestTakesItsTurnWithTensorFlow goes on with a run")
	killSeed   = flag.Uint64("kill.seed", 1, "the seed of the moments at which TestKilledInALoopOfSaves kills")
)

const (
	killEnv     = "CAIRN_TEST_KILLED_PROGRAM" // the directory that the program to be killed saves to
	killWeights = 100_000
)

// killed is the state of the program that is killed: all weights are the step's
// number.
type killed struct {
	Step   *trackable.Scalar[int64] `cairn:"step"`
	Weight *trackable.Variable      `cairn:"weight"`
}

func newKilled(t *testing.T) (*killed, *Checkpoint) {
	t.Helper()
	k := &killed{trackable.NewScalar[int64](0), trackable.NewVariable(tensor.Must(tensor.Zeros(tensor.Float32, killWeights)))}
	ck, err := New(k, nil)
	if err != nil {
		t.Fatal(err)
	}
	return k, ck
}

func (k *killed) train() error {
	step := k.Step.Add(1)
	v := make([]float32, killWeights)
	for i := range v {
		v[i] = float32(step)
	}
	return k.Weight.Store(tensor.Vector(v...))
}

func (k *killed) check(t *testing.T) {
	t.Helper()
	for _, x := range tensor.Values[float32](k.Weight.Load()) {
		if x != float32(k.Step.Get()) {
			t.Fatalf("step %d, but a weight of step %v", k.Step.Get(), x)
		}
	}
}

func killedOptions() *ManagerOptions { return &ManagerOptions{MaxToKeep: 3, Async: os.Getpid()%2 == 0} }

// TestProgramThatIsKilled tests nothing itself: the test below runs it as
// another process. It restores, then trains and saves forever, and reports
// every save that is durable.
func TestProgramThatIsKilled(t *testing.T) {
	dir := os.Getenv(killEnv)
	if dir == "" {
		t.Skip("runs as a process of TestKilledInALoopOfSaves")
	}
	ctx := context.Background()
	k, ck := newKilled(t)
	opts := killedOptions()
	opts.OnWrite = append(opts.OnWrite, func(_ context.Context, path string) error {
		_, number, _ := strings.Cut(filepath.Base(path), "-")
		_, err := fmt.Printf("saved %s\n", number)
		return err
	})
	m, err := NewManager(ck, dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.RestoreLatest(ctx); err != nil && !errors.Is(err, ErrNotFound) {
		t.Fatal(err)
	}
	k.check(t)
	fmt.Printf("started %d\n", k.Step.Get())
	for {
		if err := k.train(); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Save(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKilledInALoopOfSaves kills a process in the middle of its saves, again and
// again. Every save that it reported must exist.
func TestKilledInALoopOfSaves(t *testing.T) {
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip("no processes here")
	}
	dir := *killDir
	if dir == "" {
		dir = t.TempDir()
	}
	ctx := context.Background()
	rnd := rand.New(rand.NewPCG(*killSeed, 1))
	durable, midway := int64(0), 0
	for round := range *killRounds {
		said := runAndKill(t, dir, time.Duration(rnd.IntN(40))*time.Millisecond)
		durable = max(durable, said)

		latest, err := LatestCheckpoint(dir, nil)
		if errors.Is(err, ErrNotFound) && durable == 0 {
			continue
		} else if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		k, ck := newKilled(t)
		if _, err := ck.Restore(ctx, latest, nil); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if k.check(t); k.Step.Get() < durable {
			t.Fatalf("round %d: the latest checkpoint is of step %d, but step %d was saved", round, k.Step.Get(), durable)
		}
		for _, f := range filesBelow(t, dir) {
			if strings.Contains(f, ".tempstate") || strings.HasSuffix(f, ".tmp") {
				midway++
				break
			}
		}
	}
	t.Logf("%d rounds, %d of them killed while a file was being written, %d steps", *killRounds, midway, durable)

	// One more save leaves no unlisted files.
	k, ck := newKilled(t)
	m, err := NewManager(ck, dir, killedOptions())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.RestoreLatest(ctx); err != nil && !errors.Is(err, ErrNotFound) {
		t.Fatal(err)
	}
	if err := k.train(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Save(ctx); err != nil {
		t.Fatal(err)
	}
	kept := m.Checkpoints() // the background save is not among them yet
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	kept = append(kept, m.Checkpoints()...)
	for _, f := range filesBelow(t, dir) {
		base, _, _ := strings.Cut(f, ".")
		listed := false
		for _, p := range kept {
			listed = listed || filepath.Base(p) == base
		}
		if f != "checkpoint" && !listed {
			t.Errorf("%s is left behind; %q are managed", f, m.Checkpoints())
		}
	}
}

// TestTakesItsTurnWithTensorFlow makes two steps of a run that TensorFlow's
// manager makes the others of; interop/kill_check.py calls it.
func TestTakesItsTurnWithTensorFlow(t *testing.T) {
	if *turnDir == "" {
		t.Skip("needs -turn.dir, and somebody to take turns with")
	}
	ctx := context.Background()
	k, ck := newKilled(t)
	m, err := NewManager(ck, *turnDir, &ManagerOptions{MaxToKeep: 3, KeepEvery: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.RestoreOrInitialize(ctx); err != nil {
		t.Fatal(err)
	}
	k.check(t)
	for range 2 {
		if err := k.train(); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Save(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

// runAndKill runs the program until it is killed, some time after it has
// started, and returns the last step that it reported as saved.
func runAndKill(t *testing.T, dir string, after time.Duration) (saved int64) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestProgramThatIsKilled$", "-test.v")
	cmd.Env = append(os.Environ(), killEnv+"="+dir)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	guard := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer guard.Stop()
	started := false
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := lines.Text()
		said.WriteString(line + "\n")
		if n, ok := strings.CutPrefix(line, "started "); ok && !started {
			started = true
			saved, err = strconv.ParseInt(n, 10, 64)
			time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		} else if n, ok := strings.CutPrefix(line, "saved "); ok {
			saved, err = strconv.ParseInt(n, 10, 64)
		}
		if err != nil {
			t.Fatalf("the program said %q", line)
		}
	}
	err = cmd.Wait()
	if !started || cmd.ProcessState.Exited() && runtime.GOOS != "windows" {
		t.Fatalf("the program ended by itself (%v):\n%s%s", err, said.String(), complaints.String())
	}
	return saved
}
