package restoring

// Options changes one RestoreAll of trackable.Internal; nil means the defaults.
type Options struct {
	// Unwritten refuses variables that were written since they were made or
	// restored, as trackable.ErrWritten, and leaves those alone that have a later Stamp.
	// Default: both are overwritten.
	Unwritten bool
	// Stamp is the argument of SetStamp for each variable. Default: it isn't
	// called.
	Stamp uint64
}
