import { expect, test } from 'vitest';
import { least } from '../config/config.fixture.ts';
import { resolveConfig } from '../config/config.ts';
import { runHash } from './environment.ts';

const config = resolveConfig(least, 'test');
const hash = runHash(config, 'data', 'wasm');

test('is twelve digits of the config, the data and the backend', () => {
  expect(hash).toMatch(/^[0-9a-f]{12}$/);
  expect(runHash(resolveConfig(structuredClone(least), 'other.yaml'), 'data', 'wasm')).toBe(hash);
  const others = [
    runHash({ ...config, description: 'x' }, 'data', 'wasm'),
    runHash(config, 'other data', 'wasm'),
    runHash(config, 'data', 'cpu'),
  ];
  expect(new Set([hash, ...others]).size).toBe(4);
});

test('does not tell where the arms are run', () => {
  expect(runHash({ ...config, launcher: { name: 'local', workers: 7 } }, 'data', 'wasm')).toBe(hash);
});
