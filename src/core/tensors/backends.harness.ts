import { UnavailableError } from '../errors/errors.ts';
import { BACKENDS, type BackendName } from './backend.ts';

/** wasm and cpu, or those that RAGPP_TEST_BACKENDS names: `npm run test:backend -- webgpu`. */
export function testBackends(): BackendName[] {
  const names = (process.env.RAGPP_TEST_BACKENDS ?? 'wasm,cpu').split(',');
  const unknown = names.find((name) => !BACKENDS.includes(name as BackendName));
  if (unknown !== undefined)
    throw new UnavailableError('test backend', `expected ${BACKENDS.join(', ')}, got ${unknown}`);
  return names as BackendName[];
}

/** The backends of tensor tests. */
export const TEST_BACKENDS: readonly BackendName[] = testBackends();
