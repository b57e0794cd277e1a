package checkpoint

import (
	"context"
	"errors"
)

// Resume continues the last run in directory: it creates a [Checkpoint] of root
// and a [Manager] of directory, and restores the latest checkpoint as
// [Manager.RestoreOrInitialize] does. In an empty directory, or one that doesn't
// exist yet, the run starts from scratch. The caller closes the Manager; after an
// error there is none.
func Resume(ctx context.Context, root any, directory string, o *ManagerOptions) (*Manager, error) {
	ck, err := New(root, nil)
	if err != nil {
		return nil, err
	}
	m, err := NewManager(ck, directory, o)
	if err != nil {
		return nil, err
	}
	if _, err := m.RestoreOrInitialize(ctx); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}
