package trackable

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"

	"github.com/cairnml/cairn/internal/cores"
)

const (
	// lockBlock is the number of variables that are looked at before they are locked: the
	// processor gets them from memory together then, and not one by one.
	lockBlock = 64
	// lockShare is the least number of variables for each goroutine. Both numbers only
	// decide the speed and may change.
	lockShare = 4096
)

// eachShare calls f with ranges of n, in as many parallel goroutines as there are
// shares.
func eachShare(n int, f func(share, from, to int)) {
	shares := shareCount(n)
	cores.Each(shares, func(i int) { f(i, i*n/shares, (i+1)*n/shares) })
}

// shareCount returns how many shares eachShare makes of n.
func shareCount(n int) int { return max(1, min(runtime.GOMAXPROCS(0), n/lockShare)) }

// lockAll locks the variables in the order of creation. While each range of them is
// still in the processor's cache it calls each with it, from several goroutines. If
// other goroutines hold locks or the variables come in another order, it calls each again
// with all of them. If anything fails, none is locked.
func lockAll(vars []*Variable, each func(from, to int) error) error {
	// Locks that are only tried need no order.
	shares := make([]lockedShare, shareCount(len(vars)))
	eachShare(len(vars), func(i, from, to int) { shares[i].lock(vars, from, to, each) })
	var err error
	held, last := true, uint64(0)
	for i := range shares {
		s := &shares[i]
		held = held && s.held && s.first > last
		last = s.last
		err = cmp.Or(err, s.err)
	}
	if held && err == nil || len(vars) == 0 {
		return nil
	}
	for i := range shares {
		unlockAll(vars[shares[i].from:shares[i].to])
	}
	if err != nil {
		return err
	}
	return lockSorted(vars, each)
}

// lockedShare is how far the locking of a range is.
type lockedShare struct {
	from, to    int    // the locked range
	first, last uint64 // the numbers of the first and the last one
	held        bool   // all are locked
	err         error  // of each
}

// lock locks variables that come in the order of making, as long as it needn't wait.
func (s *lockedShare) lock(vars []*Variable, from, to int, each func(from, to int) error) {
	s.from, s.to = from, from
	for s.to < to {
		block := vars[s.to:min(s.to+lockBlock, to)]
		for _, v := range block {
			if v == nil || v.id.Load() <= s.last {
				return
			}
			if s.last = v.id.Load(); s.first == 0 {
				s.first = s.last
			}
		}
		begin := s.to
		for _, v := range block {
			if !v.mu.TryLock() {
				return
			}
			s.to++
		}
		if s.err = each(begin, s.to); s.err != nil {
			return
		}
	}
	s.held = true
}

// lockSorted works like lockAll, for variables in any order.
func lockSorted(vars []*Variable, each func(from, to int) error) error {
	for _, v := range vars {
		if v == nil {
			return fmt.Errorf("trackable: one of %d variables to update is nil", len(vars))
		}
		if v.id.Load() == 0 {
			v.mu.Lock()
			v.number()
			v.mu.Unlock()
		}
	}
	order := slices.SortedFunc(slices.Values(vars), func(a, b *Variable) int { return cmp.Compare(a.id.Load(), b.id.Load()) })
	for i, v := range order {
		if i > 0 && order[i-1] == v {
			return fmt.Errorf("trackable: variable %q is listed twice", v.Name())
		}
	}
	for _, v := range order {
		v.mu.Lock()
	}
	if err := each(0, len(vars)); err != nil {
		unlockAll(vars)
		return err
	}
	return nil
}

func unlockAll(vars []*Variable) {
	eachShare(len(vars), func(_, from, to int) {
		for _, v := range vars[from:to] {
			v.mu.Unlock()
		}
	})
}
