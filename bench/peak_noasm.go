//go:build !amd64 || noasm

package main

// multiplyAdds returns nil: there is no loop for this machine.
func multiplyAdds() (loop func(rounds int), each int) { return nil, 0 }
