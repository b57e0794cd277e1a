package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// sameCheckpoint compares the files of two checkpoints byte for byte. If they
// differ, the error shows the difference of their dumps; see dumpDifference.
func (r *run) sameCheckpoint(ours, theirs string) error {
	a, err := filesOf(ours)
	if err != nil {
		return err
	}
	b, err := filesOf(theirs)
	if err != nil {
		return err
	}
	if len(b) == 0 {
		return fmt.Errorf("%s: TensorFlow wrote nothing", theirs)
	}
	var wrong []string
	for suffix, want := range b {
		got, ok := a[suffix]
		switch {
		case !ok:
			wrong = append(wrong, fmt.Sprintf("%s is missing", suffix))
		case !bytes.Equal(got, want):
			wrong = append(wrong, fmt.Sprintf("%s differs at byte %d of %d (TensorFlow's has %d)", suffix, firstDifference(got, want), len(got), len(want)))
		}
	}
	for suffix := range a {
		if _, ok := b[suffix]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s exists only in ours", suffix))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%s against %s: %s\n%s", ours, theirs, strings.Join(wrong, ", "), r.dumpDifference(ours, theirs))
}

// filesOf reads the files of a checkpoint, by their suffix after "prefix.".
func filesOf(prefix string) (map[string][]byte, error) {
	files := map[string][]byte{}
	dir, base := filepath.Split(prefix)
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		if suffix, ok := strings.CutPrefix(e.Name(), base+"."); ok {
			if files[suffix], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// firstDifference returns the first offset at which a and b differ.
func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

const (
	differenceLines = 24 // the greatest number of lines that are shown of one difference
	mostDifferences = 5  // the greatest number of dumps in a run: each starts a Python with TensorFlow
)

// dumpDifference returns the difference of the dumps that peer/oracle.py makes of
// two checkpoints. Lines with - are TensorFlow's. There are no dumps without a
// Python, or after mostDifferences of a run.
func (r *run) dumpDifference(ours, theirs string) string {
	if r.dumped++; r.python == "" || r.dumped > mostDifferences {
		return "(interop/peer/oracle.py shows the difference)"
	}
	cmd := exec.Command(r.python, filepath.Join("interop", "peer", "oracle.py"), theirs, ours)
	out, err := cmd.Output()
	if err != nil {
		return fmt.Sprintf("(no dump: %v)", err)
	}
	lines := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	if len(lines) > differenceLines {
		lines = append(lines[:differenceLines], fmt.Sprintf("… %d more lines", len(lines)-differenceLines))
	}
	return strings.Join(lines, "\n")
}

// timestamp matches the times in a state file, which change from run to run.
var timestamp = regexp.MustCompile(`(timestamps?: )[0-9.e+]+`)

// sameState compares two state files, timestamps aside.
func sameState(ours, theirs string) error {
	a, err := os.ReadFile(ours)
	if err != nil {
		return err
	}
	b, err := os.ReadFile(theirs)
	if err != nil {
		return err
	}
	a, b = timestamp.ReplaceAll(a, []byte("${1}T")), timestamp.ReplaceAll(b, []byte("${1}T"))
	if !bytes.Equal(a, b) {
		return fmt.Errorf("%s is\n%swant\n%s", ours, a, b)
	}
	return nil
}

// copyDirectory copies the files of a directory. An older dst is removed.
func copyDirectory(dst, src string) error {
	if err := os.RemoveAll(dst); err != nil {
		return err
	}
	return os.CopyFS(dst, os.DirFS(src))
}
