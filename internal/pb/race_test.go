//go:build race

package pb

const raceEnabled = true // the detector empties pools
