import { type Refusal, Refusals } from '../../core/service/http-refusal.ts';
import { AdmissibilityError, type AdmissibilityReason } from '../signatures/admissibility-error.ts';

/** 403: no; 404: there is no such thing; 409: it was so, and is not any more; 422: understood, and cannot be done. */
const STATUS_OF_REASON: Readonly<Partial<Record<AdmissibilityReason, number>>> = {
  signature: 403,
  fingerprint: 403,
  order: 403,
  twin: 403,
  scope: 403,
  policy: 403,
  moment: 403,
  'key-retired': 403,
  'key-untrusted': 403,
  'unknown-policy': 404,
  'unknown-anchor': 404,
  'unknown-turn': 404,
  stale: 409,
  corpus: 409,
  expired: 409,
  'not-yet-valid': 409,
  chain: 409,
  'no-anchor': 422,
  limit: 422,
  budget: 422,
  malformed: 422,
};

function describeOwn(error: unknown): Refusal | null {
  if (!(error instanceof AdmissibilityError)) return null;
  const { code, reason, message } = error;
  const status = STATUS_OF_REASON[reason];
  return status === undefined ? null : { status, body: { code, reason, message } };
}

/** The answers of a kernel instead of a slice. */
export const kernelRefusals = new Refusals(
  {
    name: 'kernel',
    paths: 'POST /slice, POST /slice/verify, GET /keys, GET /health or GET /metrics',
    page: 'docs/kernel.md',
  },
  describeOwn,
);
