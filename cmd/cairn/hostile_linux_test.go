//go:build linux && (amd64 || arm64)

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/internal/testkit/hostilemodels"
)

// TestHostileModelsEndInOrder shows, scans and runs models that are written with intent to
// harm, in a process of 6 GiB of address space that is interrupted after a while. The
// command answers or reports an error; it doesn't crash, and ends soon after the
// interrupt. With CAIRN_HOSTILE=all the models are as large as files can be.
func TestHostileModelsEndInOrder(t *testing.T) {
	if detector.Racing {
		t.Skip("the race detector needs all address space")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	all := os.Getenv("CAIRN_HOSTILE") == "all"
	models := hostilemodels.All(all)
	if len(models) < 200 {
		t.Errorf("%d models, want 200 or more", len(models))
	}
	for i, m := range models {
		if !all && i%8 != 0 || !strings.Contains(m.Name, os.Getenv("CAIRN_HOSTILE_ONLY")) {
			continue
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "saved_model.pb"), m.Make(), 0o600); err != nil {
			t.Fatal(err)
		}
		verbs := []string{"run " + dir + " --input x=[1]", "show " + dir, "scan " + dir}
		if !all {
			verbs = verbs[i/8%3:][:1]
		}
		for _, args := range verbs {
			verb, _, _ := strings.Cut(args, " ")
			t.Run(m.Name+"/"+verb, func(t *testing.T) {
				interruptAfter(t, self, args, 300*time.Millisecond)
			})
		}
		_ = os.RemoveAll(dir)
	}
}

// interruptAfter runs the command with arguments and interrupts it after a while.
func interruptAfter(t *testing.T, self, args string, after time.Duration) {
	cmd := exec.Command("sh", "-c", `ulimit -v 6291456; exec "$0"`, self)
	cmd.Env = append(os.Environ(), "CAIRN_TEST_ARGS="+args, "GOTRACEBACK=single")
	var out tail
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var late time.Duration
	select {
	case <-ended:
	case <-time.After(after):
		sent := time.Now()
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Signal(syscall.SIGQUIT)
			<-ended
		}
		late = time.Since(sent)
	}
	said := out.String()
	code := cmd.ProcessState.ExitCode()
	for _, word := range []string{"panic:", "fatal error", "goroutine ", "SIGSEGV"} {
		if strings.Contains(said, word) {
			t.Fatalf("%s: exit code %d: %s", args, code, said)
		}
	}
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); said == "" && status.Signaled() && status.Signal() == syscall.SIGINT {
		// On a busy machine, the interrupt may come before the command begins.
		if after < 10*time.Second {
			interruptAfter(t, self, args, 4*after)
		} else {
			t.Errorf("%s: an interrupt after %v isn't caught", args, after)
		}
		return
	}
	if code < 0 || code > 2 {
		t.Errorf("%s: exit code %d: %s", args, code, said)
	}
	if late > hostileGrace {
		t.Errorf("%s: ended %v after the interrupt: %s", args, late, said)
	}
	if code == 0 && os.Getenv("CAIRN_HOSTILE_ONLY") != "" {
		fmt.Println(said)
	}
}

// hostileGrace is how long the command may run after an interrupt. In a short run the machine
// may be busy.
var hostileGrace = func() time.Duration {
	if os.Getenv("CAIRN_HOSTILE") == "all" {
		return 500 * time.Millisecond
	}
	return 5 * time.Second
}()

// tail keeps the first and the last of the bytes written to it.
type tail struct{ first, last bytes.Buffer }

func (t *tail) Write(b []byte) (int, error) {
	n := len(b)
	if room := 2000 - t.first.Len(); room > 0 {
		k := min(room, len(b))
		t.first.Write(b[:k])
		b = b[k:]
	}
	t.last.Write(b)
	if extra := t.last.Len() - 2000; extra > 0 {
		t.last.Next(extra)
	}
	return n, nil
}

func (t *tail) String() string { return t.first.String() + t.last.String() }
