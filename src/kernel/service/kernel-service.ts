import { z } from 'zod';
import { type Refusal, Refusals } from '../../core/service/http-refusal.ts';
import {
  createHttpService,
  type HttpService,
  type HttpServiceOptions,
  readBody,
  ServiceMetrics,
} from '../../core/service/http-service.ts';
import type { Kernel } from '../authority/kernel.ts';
import { AdmissibilityError, type AdmissibilityReason } from '../signatures/admissibility-error.ts';
import { sliceExportSchema, sliceRequestSchema } from '../signatures/slice-export.ts';

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
const kernelRefusals = new Refusals(
  {
    name: 'kernel',
    paths: 'POST /slice, POST /slice/verify, GET /keys, GET /health or GET /metrics',
    page: 'docs/kernel.md',
  },
  describeOwn,
);

/** The largest body by default: while one is read and checked, others wait. */
export const LARGEST_BODY = 2 ** 19;

/** No request has more. */
const [MOST_KEYS, DEEPEST] = [100, 8];

/** Upper bounds of the buckets of the turns of a slice. */
const TURNS = [1, 5, 10, 25, 50, 100, 250, 500, 1000, 10_000, 100_000];

/** What bounds a request. */
export interface KernelServiceOptions extends Pick<HttpServiceOptions, 'requestSeconds' | 'hosts' | 'onError'> {
  /** The largest body. 512 KiB by default, which is some 12,000 ids: others wait while it is read and checked. */
  readonly maxBodyBytes?: number;
}

const verifyRequestSchema = z.strictObject({
  slice: sliceExportSchema,
  /** The moment of use in milliseconds since 1970; null: now. */
  at: z.number('a moment in milliseconds since 1970').min(0).nullable().default(null),
});

/** Paths and methods, and what each answers. */
function addPaths(app: HttpService['app'], kernel: Kernel, observeTurns: (turns: number) => void): void {
  app.post('/slice', async ({ body }) => {
    const slice = await kernel.slice(readBody(sliceRequestSchema, body, kernelRefusals));
    observeTurns(slice.turnIds.length);
    return slice;
  });
  app.post('/slice/verify', async ({ body }) => {
    const { slice, at } = readBody(verifyRequestSchema, body, kernelRefusals);
    await kernel.verify(slice, at);
    return { valid: true };
  });
  app.get('/keys', async () => ({ keys: kernel.keys }));
  app.get('/health', async () => ({
    ...{ status: 'ok', corpusVersion: kernel.corpusVersion },
    ...{ policies: kernel.policyRefs, turns: kernel.turnCount },
  }));
}

/** A kernel behind HTTP. */
export function createKernelService(kernel: Kernel, options: KernelServiceOptions = {}): HttpService {
  const { maxBodyBytes = LARGEST_BODY, ...bounds } = options;
  const metrics = new ServiceMetrics('kernel');
  const turns = metrics.addHistogram('slice_turns', 'Turns of a slice; its count is that of the slices.', TURNS);
  metrics.addCounter('cache_hits_total', 'Slices whose turns were known.', () => kernel.cacheUse.hits);
  metrics.addCounter('cache_misses_total', 'Slices whose turns were walked.', () => kernel.cacheUse.misses);
  const limits = { mostBytes: maxBodyBytes, mostKeys: MOST_KEYS, deepest: DEEPEST };
  const service = createHttpService({ ...bounds, refusals: kernelRefusals, limits, metrics });
  addPaths(service.app, kernel, (count) => turns.observe(count));
  return service;
}
