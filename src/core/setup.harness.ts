import { probeBackends } from './backend.ts';
import { TEST_BACKENDS } from './backends.harness.ts';
import { UnavailableError } from './errors.ts';

/** Refuses, before any test runs, a backend that is not there. */
export default function refuseAbsent(): void {
  for (const { name, available, reason } of probeBackends())
    if (TEST_BACKENDS.includes(name) && !available) throw new UnavailableError(`backend ${name}`, reason);
}
