package vfs

import "time"

// On Windows a file that another program has open, a virus scanner or a reader
// of the checkpoint, can't be replaced or removed until it is closed. The first
// wait and the time after which retries end may change.
const (
	retryFirst = time.Millisecond
	retryFor   = 2 * time.Second
)

// retryInUse calls f until it succeeds, fails for another reason than an open
// file, or two seconds have passed.
func retryInUse(f func() error) error { return retry(f, inUse, time.Sleep) }

func retry(f func() error, again func(error) bool, sleep func(time.Duration)) error {
	err := f()
	for wait, spent := retryFirst, time.Duration(0); err != nil && again(err) && spent < retryFor; wait = min(2*wait, 100*time.Millisecond) {
		sleep(wait)
		spent += wait
		err = f()
	}
	return err
}
