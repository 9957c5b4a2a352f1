import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ArmProcess } from '../../lab/launch/arm-process.ts';
import { beginSampleRun } from '../../lab/launch/begun-run.fixture.ts';
import { findOwnProgram } from '../../lab/launch/own-process.ts';
import { joinFailurePath, readArmRecord, recordPath } from '../../lab/run/arm-record.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-service-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(() => beginSampleRun(folder));

test('a process that serves runs arm after arm, whether they fail or not, until it is let go', async () => {
  const places = { cacheFolder: join(folder, 'cache'), backend: 'wasm' } as const;
  const service = new ArmProcess({ ...places, program: findOwnProgram() }).open(folder);
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
