//go:build race

package pb

const raceEnabled = true // lists that grow allocate twice
