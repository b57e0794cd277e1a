// Package rewrite makes files of tensors out of others: conversion between
// formats, renaming, dropping and casting, merging. It streams: beside the
// index, one tensor is in memory at a time. Nothing appears under a
// destination's name before it is whole.
package rewrite
