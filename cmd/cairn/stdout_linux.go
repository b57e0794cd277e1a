package main

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// closedAtStart reports whether a shell started the program with its output closed (>&-).
// Go's runtime opens the null device for reading and writing in a closed stream's place,
// before main. Some programs open it so for their children too, such as
// Python's subprocess.DEVNULL. A shell does not: its >/dev/null is for writing alone. So the
// stream was closed if a shell is the parent and its own output is another file.
func closedAtStart(out *os.File) bool {
	var stat unix.Stat_t
	if unix.Fstat(int(out.Fd()), &stat) != nil || stat.Mode&unix.S_IFMT != unix.S_IFCHR || stat.Rdev != unix.Mkdev(1, 3) {
		return false
	}
	flags, err := unix.FcntlInt(out.Fd(), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR {
		return false
	}
	parent := "/proc/" + strconv.Itoa(os.Getppid())
	name, err := os.ReadFile(parent + "/comm")
	if err != nil || !shellNames[strings.TrimSpace(string(name))] {
		return false
	}
	target, err := os.Readlink(parent + "/fd/1")
	if errors.Is(err, fs.ErrNotExist) {
		return true // the shell closed its own output while the command runs, as dash does
	}
	return err == nil && target != os.DevNull
}

// shellNames are the shells that have the redirection >&-.
var shellNames = map[string]bool{"sh": true, "bash": true, "dash": true, "ash": true, "busybox": true, "ksh": true, "mksh": true, "zsh": true}
