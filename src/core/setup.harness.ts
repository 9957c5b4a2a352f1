import { probeBackends } from './backend.ts';
import { TEST_BACKENDS } from './backends.harness.ts';
import { UnavailableError } from './errors.ts';

/** Stops before any test runs if a backend is missing. */
export default function refuseAbsent(): void {
  for (const { name, available, reason } of probeBackends())
    if (TEST_BACKENDS.includes(name) && !available) throw new UnavailableError(`backend ${name}`, reason);
}
