import { afterEach, expect, test, vi } from 'vitest';
import { testBackends } from './backends.harness.ts';

afterEach(() => vi.unstubAllEnvs());

test('wasm and cpu, unless the environment names others', () => {
  vi.stubEnv('RAGPP_TEST_BACKENDS', undefined);
  expect(testBackends()).toEqual(['wasm', 'cpu']);
  vi.stubEnv('RAGPP_TEST_BACKENDS', 'webgpu,cpu');
  expect(testBackends()).toEqual(['webgpu', 'cpu']);
});

test('an unknown one is refused', () => {
  vi.stubEnv('RAGPP_TEST_BACKENDS', 'wasm,webgl');
  expect(testBackends).toThrow(/got webgl/);
});
