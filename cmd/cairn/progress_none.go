//go:build js || wasip1 || plan9

package main

// noBar is the bar without a terminal to draw on.
type noBar struct{}

func (noBar) set(int64) {}
func (noBar) done()     {}

func newBytesBar(*app, string, int64) bar { return noBar{} }
