import { UnavailableError } from './errors/errors.ts';
import { probeBackends } from './tensors/backend.ts';
import { TEST_BACKENDS } from './tensors/backends.harness.ts';

/** Stops before any test runs if a backend is missing. */
export default function refuseAbsent(): void {
  for (const { name, available, reason } of probeBackends())
    if (TEST_BACKENDS.includes(name) && !available) throw new UnavailableError(`backend ${name}`, reason);
}
