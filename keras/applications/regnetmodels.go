package applications

import (
	"context"

	"github.com/cairnml/cairn/keras"
)

// This file has the constructors of RegNet models; regnet.go connects them, and has their sizes.

// RegNetX002 returns the smallest model of "Designing Network Design Spaces". It scales pixels of
// 0 to 255 itself, and its classifier returns logits.
func RegNetX002(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "X002", opts)
}

// RegNetX004 returns the next larger model after [RegNetX002].
func RegNetX004(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "X004", opts)
}

// RegNetX006 returns the next larger model after [RegNetX004].
func RegNetX006(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "X006", opts)
}

// RegNetX008 returns the next larger model after [RegNetX006].
func RegNetX008(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "X008", opts)
}

// RegNetX016 returns the next larger model after [RegNetX008].
func RegNetX016(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "X016", opts)
}

// RegNetX032 returns the next larger model after [RegNetX016].
func RegNetX032(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "X032", opts)
}

// RegNetX040 returns the next larger model after [RegNetX032].
func RegNetX040(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "X040", opts)
}

// RegNetX064 returns the next larger model after [RegNetX040].
func RegNetX064(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "X064", opts)
}

// RegNetX080 returns the next larger model after [RegNetX064].
func RegNetX080(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "X080", opts)
}

// RegNetX120 returns the next larger model after [RegNetX080].
func RegNetX120(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "X120", opts)
}

// RegNetX160 returns the next larger model after [RegNetX120].
func RegNetX160(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "X160", opts)
}

// RegNetX320 returns the next larger model after [RegNetX160].
func RegNetX320(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "X320", opts)
}

// RegNetY002 returns [RegNetX002] with squeeze and excitation in its blocks.
func RegNetY002(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "Y002", opts)
}

// RegNetY004 returns the next larger model after [RegNetY002].
func RegNetY004(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "Y004", opts)
}

// RegNetY006 returns the next larger model after [RegNetY004].
func RegNetY006(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "Y006", opts)
}

// RegNetY008 returns the next larger model after [RegNetY006].
func RegNetY008(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "Y008", opts)
}

// RegNetY016 returns the next larger model after [RegNetY008].
func RegNetY016(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "Y016", opts)
}

// RegNetY032 returns the next larger model after [RegNetY016].
func RegNetY032(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "Y032", opts)
}

// RegNetY040 returns the next larger model after [RegNetY032].
func RegNetY040(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "Y040", opts)
}

// RegNetY064 returns the next larger model after [RegNetY040].
func RegNetY064(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "Y064", opts)
}

// RegNetY080 returns the next larger model after [RegNetY064].
func RegNetY080(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "Y080", opts)
}

// RegNetY120 returns the next larger model after [RegNetY080].
func RegNetY120(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "Y120", opts)
}

// RegNetY160 returns the next larger model after [RegNetY120].
func RegNetY160(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "Y160", opts)
}

// RegNetY320 returns the next larger model after [RegNetY160].
func RegNetY320(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return regNet(ctx, "Y320", opts)
}
