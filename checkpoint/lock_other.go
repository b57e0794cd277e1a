//go:build !unix

package checkpoint

import "io/fs"

// plainFile is the flag for opening the lock's file (lock.go) that refuses links and pipes. These systems
// have none; lock_unix.go has Unix's.
const plainFile = 0

// hardLinked reports whether a file has more names than one. It is false, because these systems don't
// tell it. So the text about the lock's holder is also written into a lock file that has other names.
func hardLinked(fs.FileInfo) bool { return false }
