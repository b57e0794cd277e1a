package savedmodel

// stripDebugOps replaces the ops that check and print.
func (s *saver) stripDebugOps() error { return nil }
