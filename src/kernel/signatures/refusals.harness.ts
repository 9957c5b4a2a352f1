import { expect } from 'vitest';
import { AdmissibilityError, type AdmissibilityReason } from './admissibility-error.ts';

/** The reason why work is refused; null if it is not. */
export async function findReason(work: Promise<unknown>): Promise<AdmissibilityReason | null> {
  return work.then(
    () => null,
    (error: unknown) => {
      if (!(error instanceof AdmissibilityError)) throw error;
      expect(error.message).toMatch(/^[a-z].*; [a-z]/s);
      return error.reason;
    },
  );
}
