import { type Facts, RagPlusPlusError } from '../../core/errors/errors.ts';

/** Why a slice, or what was found in it, is refused. */
export const ADMISSIBILITY_REASONS = Object.freeze([
  'malformed',
  'fingerprint',
  'order',
  'twin',
  'unknown-turn',
  'signature',
  'scope',
  'policy',
  'corpus',
  'stale',
  'moment',
  'expired',
  'not-yet-valid',
  'key-retired',
  'key-untrusted',
  'chain',
  'budget',
  'bypassed',
  'no-anchor',
  'unknown-anchor',
  'unknown-policy',
  'limit',
  'kernel-unreachable',
  'kernel-timeout',
  'kernel-answer',
  'kernel-refused',
] as const);
/** One of {@link ADMISSIBILITY_REASONS}. */
export type AdmissibilityReason = (typeof ADMISSIBILITY_REASONS)[number];

/** A slice that is not accepted, or a kernel that gave none: no result may be shown. The `code` is `ADMISSIBILITY_` and the reason. */
export class AdmissibilityError extends RagPlusPlusError {
  readonly reason: AdmissibilityReason;

  constructor(reason: AdmissibilityReason, message: string, facts: Facts = {}, options?: ErrorOptions) {
    super(`ADMISSIBILITY_${reason.toUpperCase().replaceAll('-', '_')}`, message, { reason, ...facts }, options);
    this.reason = reason;
  }
}
