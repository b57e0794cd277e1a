//go:build race

package checkpoint

// underRace tells that the race detector is on, under which everything takes more
// memory.
const underRace = true
