package savedmodel

// WithChunks makes saves write models above a size in chunks of a size.
func WithChunks(o *SaveOptions, file, chunk int64) *SaveOptions {
	o.chunks = &chunkLimits{file, chunk}
	return o
}
