//go:build !unix

package checkpoint

import "io/fs"

const plainFile = 0

func hardLinked(fs.FileInfo) bool { return false }
