package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cairnml/cairn/internal/testkit/faultfs"
)

func TestBackgroundSaveHoldsTheStateOfItsCall(t *testing.T) {
	ctx := context.Background()
	disk := faultfs.New()
	p := startProgram(t, disk, ManagerOptions{Async: true, MaxToKeep: 2}, false)
	p.train()
	if _, err := p.save(nil); err != nil {
		t.Fatal(err)
	}
	p.train()
	hold, held := make(chan struct{}), make(chan struct{}, 100)
	disk.Hook(func(op faultfs.Op) error {
		if op.Kind == faultfs.Create && strings.HasPrefix(op.Name, "ckpt-2.") {
			held <- struct{}{}
			<-hold
		}
		return nil
	})
	cctx, cancel := context.WithCancel(ctx)
	path, err := p.m.Save(cctx)
	if err != nil || path != "run/ckpt-2" {
		t.Fatalf("%q, %v", path, err)
	}
	cancel() // the end of the call's context doesn't end the write
	<-held
	if p.m.Latest() != "run/ckpt-1" || len(p.m.Checkpoints()) != 1 {
		t.Errorf("the latest moved to %s before its data was durable", p.m.Latest())
	}
	wctx, stop := context.WithTimeout(ctx, 5*time.Millisecond)
	defer stop()
	if err := p.m.Wait(wctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting while a save is held up: %v", err)
	}
	close(hold)
	for range 20 { // training continues
		p.train()
	}
	if err := p.m.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if p.m.Latest() != "run/ckpt-2" {
		t.Errorf("the latest is %s", p.m.Latest())
	}
	if _, err := p.m.RestoreLatest(ctx); err != nil || p.at() != 2 {
		t.Errorf("restored step %d: %v", p.at(), err)
	}
	if err := p.m.Close(); err != nil {
		t.Error(err)
	}
}

func TestFailureOfABackgroundSaveIsReportedOnce(t *testing.T) {
	ctx := context.Background()
	for name, told := range map[string]func(*Manager) error{
		"the next save": func(m *Manager) error {
			path, err := m.Save(ctx)
			if path != "" {
				return fmt.Errorf("saved %s", path)
			}
			return err
		},
		"Wait":  func(m *Manager) error { return m.Wait(ctx) },
		"Close": func(m *Manager) error { return m.Close() },
	} {
		disk := faultfs.New()
		p := startProgram(t, disk, ManagerOptions{Async: true, Interval: 1}, false)
		if _, err := p.save(nil); err != nil {
			t.Fatal(err)
		}
		p.train()
		disk.FailAt(0, faultfs.ErrFault)
		disk.Hook(func(op faultfs.Op) error {
			if op.Kind == faultfs.Sync {
				return faultfs.ErrFault
			}
			return nil
		})
		if path, err := p.m.Save(ctx); err != nil || path == "" {
			t.Fatalf("%q, %v", path, err)
		}
		p.m.busy <- struct{}{} // the background save has ended, no call has returned its error
		<-p.m.busy
		disk.Hook(nil)
		var failed *SaveError
		if err := told(p.m); !errors.Is(err, faultfs.ErrFault) || !errors.As(err, &failed) || !failed.Async || failed.Latest != "run/ckpt-1" ||
			!strings.Contains(err.Error(), "in the background") {
			t.Errorf("%s: %v", name, err)
		}
		if err := p.m.Wait(ctx); err != nil {
			t.Errorf("%s: told twice: %v", name, err)
		}
		if name != "Close" {
			// Nothing was saved at this step, so Interval doesn't hold a save back.
			if path, err := p.save(nil); err != nil || path == "" || path != p.m.Latest() {
				t.Errorf("%s: after the failure: %q, %v; the latest is %s", name, path, err, p.m.Latest())
			}
		}
		if err := p.m.Close(); err != nil {
			t.Error(err)
		}
	}
}
