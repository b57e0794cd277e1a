//go:build race

package bundle

// underRace tells that the race detector is on, under which moving gigabytes
// takes too long.
const underRace = true
