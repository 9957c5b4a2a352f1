import { Counter, Histogram, Registry } from 'prom-client';
import type { CacheUse } from '../slices/slice-cache.ts';

/** Upper bounds of the buckets of a latency in seconds. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
/** Upper bounds of the buckets of the turns of a slice. */
const TURNS = [1, 5, 10, 25, 50, 100, 250, 500, 1000, 10_000, 100_000];

/** What a kernel counts, as Prometheus reads it. Labels have few values: no id is one. */
export class ServiceMetrics {
  readonly #registry = new Registry();
  readonly #registers = [this.#registry];
  readonly requests = new Counter({
    name: 'ragpp_kernel_requests_total',
    help: 'Requests by path and status.',
    labelNames: ['path', 'status'],
    registers: this.#registers,
  });
  readonly seconds = new Histogram({
    name: 'ragpp_kernel_request_seconds',
    help: 'Time of a request by path.',
    labelNames: ['path'],
    buckets: SECONDS,
    registers: this.#registers,
  });
  readonly refusals = new Counter({
    name: 'ragpp_kernel_refusals_total',
    help: 'Requests that got no slice or no check, by reason.',
    labelNames: ['reason'],
    registers: this.#registers,
  });
  readonly turns = new Histogram({
    name: 'ragpp_kernel_slice_turns',
    help: 'Turns of a slice; its count is that of the slices.',
    buckets: TURNS,
    registers: this.#registers,
  });

  /** @param readCache the use of the slices' cache at the moment of an answer. */
  constructor(readCache: () => CacheUse) {
    const count = (name: string, help: string, read: () => number) =>
      new Counter({
        ...{ name, help, registers: this.#registers },
        collect() {
          this.reset();
          this.inc(read());
        },
      });
    count('ragpp_kernel_cache_hits_total', 'Slices whose turns were known.', () => readCache().hits);
    count('ragpp_kernel_cache_misses_total', 'Slices whose turns were walked.', () => readCache().misses);
  }

  /** The type of {@link format}. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Text in the exposition format of Prometheus, version 0.0.4. */
  format(): Promise<string> {
    return this.#registry.metrics();
  }
}
