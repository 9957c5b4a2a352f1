import { expect, test } from 'vitest';
import { DimensionMismatchError, NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { buildSingletonClusters, groupIntoClusters, sumByCluster } from './mean-intervals.ts';

test('groups are in order of first appearance', () => {
  const clusters = groupIntoClusters(['x', 'y', 'x', 'z', 'x', 'y', 'w']);
  expect([...clusters.of]).toEqual([0, 1, 0, 2, 0, 1, 3]);
  expect([...clusters.sizes]).toEqual([3, 2, 1, 1]);
  expect([...sumByCluster(clusters, [1, 2, 4, 8, 16, 32, 64])]).toEqual([21, 34, 8, 64]);
});

test('without clusters every value is its own sum', () => {
  expect([...sumByCluster(buildSingletonClusters(3), [5, 7, 11])]).toEqual([5, 7, 11]);
  expect([...buildSingletonClusters(3).sizes]).toEqual([1, 1, 1]);
});

test('refuses values that do not fit', () => {
  expect(() => sumByCluster(buildSingletonClusters(3), [5, 7])).toThrow(DimensionMismatchError);
  expect(() => sumByCluster(buildSingletonClusters(2), [5, Number.NaN])).toThrow(NotFiniteError);
  expect(() => sumByCluster(buildSingletonClusters(0), [])).toThrow(ValidationError);
});
