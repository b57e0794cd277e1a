package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/cairnml/cairn/bundle"
)

// ErrClosed is the error of a [Manager]'s methods after Close.
var ErrClosed = errors.New("checkpoint: the manager is closed")

// ErrInsideCallback is the error of a call that would wait for the save whose
// OnWrite callback makes it, with the context it got.
var ErrInsideCallback = errors.New("checkpoint: inside an OnWrite callback of the save that it would wait for; do it after that save has returned")

// ErrNoSpace is matched by errors.Is in the error of a save that found the disk
// full.
var ErrNoSpace = errors.New("checkpoint: no space left on the device")

// ErrLocked is matched by errors.Is in every [LockedError].
var ErrLocked = errors.New("checkpoint: the directory is locked by another manager")

// A SaveError reports that a [Manager] could not write a checkpoint. The
// previous checkpoints still exist.
type SaveError struct {
	Path   string // the checkpoint that was to be written
	Latest string // the latest one; "" if there is none
	Broken error  // why Latest can't be opened, nil if it can
	Async  bool   // the save ran in the background; an earlier call began it
	Err    error  // the cause; errors.Is finds ErrNoSpace if the disk is full
}

// Error describes the failure and the remaining checkpoint.
func (e *SaveError) Error() string {
	s := "checkpoint: saving " + e.Path
	if e.Async {
		s += " in the background"
	}
	s += fmt.Sprintf(": %v", e.Err)
	if isNoSpace(e.Err) {
		s += " (the disk is full: free some space, or lower MaxToKeep)"
	}
	if e.Latest == "" {
		return s + "; there is no earlier checkpoint"
	}
	if e.Broken != nil {
		return s + fmt.Sprintf("; the latest checkpoint is still %s, which can't be opened now: %v", e.Latest, e.Broken)
	}
	return s + "; the latest good checkpoint is still " + e.Latest
}

// Unwrap returns the cause.
func (e *SaveError) Unwrap() error { return e.Err }

// Is reports whether target is [ErrNoSpace] and the disk was full.
func (e *SaveError) Is(target error) bool { return target == ErrNoSpace && isNoSpace(e.Err) }

// A DamagedError reports that the latest checkpoint is listed but can't be
// read: files are missing, truncated or altered.
type DamagedError struct {
	Path     string // the latest checkpoint
	Previous string // the newest older intact one; "" if there is none
	Err      error  // the fault of Path
}

// Error names both checkpoints and the remedies.
func (e *DamagedError) Error() string {
	s := fmt.Sprintf("checkpoint: the latest checkpoint %s is damaged: %v", e.Path, e.Err)
	if e.Previous == "" {
		return s + "; no older checkpoint is intact"
	}
	return s + fmt.Sprintf("; %s is intact; restore that one, or set ManagerOptions.Fallback", e.Previous)
}

// Unwrap returns the cause; not one of missing files, since a checkpoint that
// lost its files is not the same as none: errors.Is must not find
// [ErrNotFound], which means that a run starts from scratch.
func (e *DamagedError) Unwrap() error {
	if errors.Is(e.Err, ErrNotFound) || errors.Is(e.Err, fs.ErrNotExist) {
		return nil
	}
	return e.Err
}

// Is reports whether target is [bundle.ErrCorrupt].
func (e *DamagedError) Is(target error) bool { return target == bundle.ErrCorrupt }

// A RefusedError reports that a save was refused because it would have
// destroyed checkpoints: one that the manager doesn't manage, or, after a
// restore that found the latest one damaged, the older intact ones. Nothing was
// changed. SaveOptions.Replace allows it.
type RefusedError struct {
	Path    string        // the unmanaged checkpoint, or the damaged one
	Damaged *DamagedError // the restore's error; nil if Path isn't managed
}

// Error names the checkpoint in danger and the remedies.
func (e *RefusedError) Error() string {
	if e.Damaged == nil {
		return fmt.Sprintf("checkpoint: %s is there and not managed, so it isn't replaced; restore first, so that the numbers continue from there; "+
			"use another directory, CheckpointName or SaveOptions.Number; or replace it with SaveOptions.Replace", e.Path)
	}
	s := fmt.Sprintf("checkpoint: the latest checkpoint %s is damaged and no other one was restored, so a save would replace intact ones; ", e.Path)
	if e.Damaged.Previous != "" {
		s += fmt.Sprintf("restore %s, which is intact, or set ManagerOptions.Fallback; or ", e.Damaged.Previous)
	}
	return s + "start anew in another directory, or here with SaveOptions.Replace"
}

// Unwrap returns the restore's error.
func (e *RefusedError) Unwrap() error {
	if e.Damaged == nil {
		return nil
	}
	return e.Damaged
}

// Is reports whether target is [fs.ErrExist] and Path isn't managed.
func (e *RefusedError) Is(target error) bool { return target == fs.ErrExist && e.Damaged == nil }

// A LockedError reports that another manager uses the directory.
type LockedError struct {
	Dir    string // the directory
	Holder string // who holds it: process, host and time, as far as known
}

// Error names the holder.
func (e *LockedError) Error() string {
	return fmt.Sprintf("checkpoint: %s is in use by another manager (%s): only one may save to a directory at a time; close that one, or use another directory", e.Dir, e.Holder)
}

// Is reports whether target is [ErrLocked].
func (e *LockedError) Is(target error) bool { return target == ErrLocked }
