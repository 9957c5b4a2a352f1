import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ChecksumMismatchError } from '../../core/errors/errors.ts';
import { SampleBlobStore } from '../../core/files/blob-store.harness.ts';
import { computeHash } from '../../core/hash/hash.ts';
import type { Stage } from '../../rank/signals/stage.ts';
import { offerStage, SharedStages } from './shared-stages.ts';
import { StageCache } from './stage-cache.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-shared-stages-'));
afterAll(() => rmSync(root, { recursive: true }));
const buildStage = (key: string): Stage => ({ name: 'some-stage', key: computeHash(key), inputs: [], isKept: true });
const ARTIFACT = { width: 3, positions: Int32Array.of(5, -1, 2), reach: Number.POSITIVE_INFINITY };
const openCache = () => new StageCache(mkdtempSync(join(root, 'cache-')));

test('a stage that one machine has made is read by another, from the same bytes', async () => {
  const [blobs, stage] = [new SampleBlobStore(), buildStage('made')];
  const [here, there] = [openCache(), openCache()];
  await new SharedStages(here, blobs).write(stage, ARTIFACT);
  expect(await new SharedStages(there, blobs).read(stage)).toEqual(ARTIFACT);
  expect(readFileSync(there.joinStagePath(stage))).toEqual(readFileSync(here.joinStagePath(stage)));
  expect(await new SharedStages(there, blobs).read(buildStage('another'))).toBeNull();
});

test('a stage on this disk is not asked for elsewhere, and is offered where it is wanted', async () => {
  const [blobs, stage, local] = [new SampleBlobStore(), buildStage('local'), openCache()];
  local.write(stage, ARTIFACT);
  blobs.isAway = true;
  expect(await new SharedStages(local, blobs).read(stage)).toEqual(ARTIFACT);
  blobs.isAway = false;
  await offerStage(local, blobs, stage);
  await offerStage(local, blobs, buildStage('missing'));
  expect([...blobs.blobs.keys()]).toEqual([`stages/some-stage/${stage.key}`]);
});

test('while the store is away, a stage is made here and kept here', async () => {
  const [blobs, stage, local] = [new SampleBlobStore(), buildStage('away'), openCache()];
  blobs.isAway = true;
  const shared = new SharedStages(local, blobs);
  expect(await shared.read(stage)).toBeNull();
  await shared.write(stage, ARTIFACT);
  expect(local.read(stage)).toEqual(ARTIFACT);
});

test('a blob that is not the stage is an error, not a result', async () => {
  const [blobs, stage, local] = [new SampleBlobStore(), buildStage('damaged'), openCache()];
  const other = openCache();
  other.write(buildStage('whole'), ARTIFACT);
  blobs.blobs.set(`stages/some-stage/${stage.key}`, readFileSync(other.joinStagePath(buildStage('whole'))));
  await expect(new SharedStages(local, blobs).read(stage)).rejects.toThrow(ChecksumMismatchError);
  expect(existsSync(local.joinStagePath(stage))).toBe(true);
});
