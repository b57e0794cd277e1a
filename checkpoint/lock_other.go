//go:build !unix

package checkpoint

import "io/fs"

// plainFile adds no flag: these systems have none that refuses links and pipes (see lock_unix.go).
const plainFile = 0

// hardLinked can't be known here, so the holder's text is written into a file with more names too.
func hardLinked(fs.FileInfo) bool { return false }
