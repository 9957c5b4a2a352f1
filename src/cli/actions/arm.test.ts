import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { yaml } from '../../core/values/yaml.ts';
import { resolveConfig } from '../../lab/config/config.ts';
import { ArmProcess } from '../../lab/launch/arm-process.ts';
import { beginSampleRun } from '../../lab/launch/begun-run.fixture.ts';
import { findOwnProgram } from '../../lab/launch/own-process.ts';
import { joinFailurePath, readArmRecord, recordPath } from '../../lab/run/arm-record.ts';
import { STATE } from '../../lab/run/partial-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-service-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(() => beginSampleRun(folder));

const start = (cacheFolder: string) =>
  new ArmProcess({ cacheFolder: join(folder, cacheFolder), backend: 'wasm', program: findOwnProgram() });
const readData = () => ({
  config: resolveConfig(yaml().parse(readFileSync(join(folder, 'config.yaml'), 'utf8')), 'sample'),
  dataFolder: null,
});

test('a process that serves runs arm after arm, whether they fail or not, until it is let go', async () => {
  const service = start('cache');
  service.open({ open: folder });
  try {
    const shares: number[] = [];
    const run = (arm: string) => service.ask({ arm }, (share) => void shares.push(share));
    expect(await run('overflowing')).toBeNull();
    expect(service.isReady).toBe(true);
    expect(await run('newest')).toBeNull();
    expect(shares).toEqual([1 / 3, 2 / 3]);
    expect(existsSync(joinFailurePath(folder, 'overflowing'))).toBe(true);
    expect(readArmRecord(recordPath(folder, 'newest')).name).toBe('newest');
  } finally {
    await service.endGracefully();
  }
});

test('a process does what arms share with the data alone, and checks the run before it runs an arm', async () => {
  const service = start('early');
  await service.loaded;
  expect(service.isReady).toBe(false);
  service.open({ data: readData() });
  const shared = { arm: 'newest', part: 0, parts: 1 };
  expect(await service.ask({ shared }, () => {})).toBeNull();
  expect(service.isReady).toBe(true);
  expect(readdirSync(join(folder, 'early', 'stages', 'tuning-value'))).toHaveLength(2);
  const path = join(folder, STATE);
  const begun = readFileSync(path, 'utf8');
  try {
    writeFileSync(path, JSON.stringify({ ...JSON.parse(begun), dataHash: 'other' }));
    service.open({ open: folder });
    const death = await service.ask({ arm: 'newest' }, () => {});
    expect(death?.message).toContain('run was begun with another dataHash');
  } finally {
    writeFileSync(path, begun);
    await service.endGracefully();
  }
});
