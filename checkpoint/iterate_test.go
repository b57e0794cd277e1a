package checkpoint

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cairnml/cairn/vfs"
)

// announce makes an (empty) checkpoint the latest one in dir.
func announce(t *testing.T, dir, name string) string {
	t.Helper()
	touch(t, dir, name+".index")
	p := filepath.Join(dir, name)
	if err := UpdateCheckpointState(dir, &CheckpointState{ModelCheckpointPath: p}, &StateOptions{Relative: true}); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWatchWaitsForNewCheckpoints(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	seen := make(chan string)
	go func() {
		defer close(seen)
		for p, err := range Watch(context.Background(), dir, &WatchOptions{Poll: time.Millisecond, Timeout: 30 * time.Second, Done: func() bool { return false }}) {
			if err != nil {
				t.Error(err)
				return
			}
			seen <- p
			if filepath.Base(p) == "ckpt-3" {
				return
			}
		}
	}()
	time.Sleep(5 * time.Millisecond)
	for _, name := range []string{"ckpt-1", "ckpt-2", "ckpt-3"} {
		if want, got := announce(t, dir, name), <-seen; got != want {
			t.Errorf("saw %q, want %q", got, want)
		}
	}
}

func TestWatchEnds(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	collect := func(ctx context.Context, o *WatchOptions) (paths []string, last error) {
		for p, err := range Watch(ctx, dir, o) {
			if err != nil {
				last = err
			} else {
				paths = append(paths, p)
			}
		}
		return paths, last
	}
	if got, err := collect(ctx, &WatchOptions{Timeout: 3 * time.Millisecond}); len(got) != 0 || err != nil {
		t.Errorf("an empty directory: %q, %v", got, err)
	}
	one := announce(t, dir, "ckpt-1")
	if got, err := collect(ctx, &WatchOptions{Timeout: 3 * time.Millisecond}); !slices.Equal(got, []string{one}) || err != nil {
		t.Errorf("the time is over: %q, %v", got, err)
	}
	asked := 0
	if got, err := collect(ctx, &WatchOptions{Timeout: time.Millisecond, Done: func() bool { asked++; return asked == 4 }}); len(got) != 1 || err != nil || asked != 4 {
		t.Errorf("Done was asked %d times: %q, %v", asked, got, err)
	}
	if got, err := collect(ctx, &WatchOptions{Done: func() bool { return true }}); len(got) != 1 || err != nil {
		t.Errorf("done at once: %q, %v", got, err)
	}
	stop, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
	defer cancel()
	if got, err := collect(stop, nil); len(got) != 1 || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the context ended: %q, %v", got, err)
	}
	if got, err := collect(stop, &WatchOptions{MinInterval: time.Hour}); len(got) != 0 || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the context had ended: %q, %v", got, err)
	}
	writeText(t, dir, "garbage")
	var se *StateError
	if _, err := collect(ctx, &WatchOptions{Timeout: time.Hour}); !errors.As(err, &se) {
		t.Errorf("a bad state file: %v", err)
	}
}

func TestWatchKeepsTheInterval(t *testing.T) {
	mem := vfs.MemDir()
	put := func(name string) {
		if err := mem.WriteFile(name+".index", nil); err != nil {
			t.Fatal(err)
		}
		if err := UpdateCheckpointState("run", &CheckpointState{ModelCheckpointPath: filepath.Join("run", name)}, &StateOptions{Dir: mem}); err != nil {
			t.Fatal(err)
		}
	}
	put("a")
	var at []time.Time
	for _, err := range Watch(context.Background(), "run", &WatchOptions{MinInterval: 30 * time.Millisecond, Poll: time.Millisecond, State: &StateOptions{Dir: mem}}) {
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, time.Now())
		if len(at) == 2 {
			break
		}
		put("b")
	}
	if d := at[1].Sub(at[0]); d < 30*time.Millisecond {
		t.Errorf("the second came after %v", d)
	}
}
