package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMain runs the command instead of the tests in processes that tests start.
func TestMain(m *testing.M) {
	if args := os.Getenv("CAIRN_TEST_ARGS"); args != "" {
		os.Exit(interruptible(strings.Fields(args)))
	}
	os.Exit(m.Run())
}

func TestClosedOutputIsAnError(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for redirection, fails := range map[string]bool{">&-": true, ">/dev/null": false} {
		// The second command keeps the shell from becoming the program.
		cmd := exec.Command(sh, "-c", self+" "+redirection+"; exit $?")
		cmd.Env = append(os.Environ(), "CAIRN_TEST_ARGS=version")
		r, w, err := os.Pipe() // the shell's own output is no null device
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		cmd.Stdout, cmd.Stderr = w, &said
		err = cmd.Run()
		r.Close()
		w.Close()
		if (err != nil) != fails || fails && !strings.Contains(said.String(), "stdout: it is closed") {
			t.Errorf("cairn version %s: %v, %q", redirection, err, said.String())
		}
	}
	// A program that is no shell may open the null device for both.
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "CAIRN_TEST_ARGS=version")
	cmd.Stdout = null
	if err := cmd.Run(); err != nil {
		t.Errorf("with the null device as output: %v", err)
	}
}
