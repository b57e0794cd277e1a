//go:build race

package inspect

const raceEnabled = true // the detector allocates too
