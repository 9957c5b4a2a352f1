import type { CacheUse } from '../slice-cache.ts';

/** Upper bounds of the buckets of a latency in seconds. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
/** Upper bounds of the buckets of the turns of a slice. */
const TURNS = [1, 5, 10, 25, 50, 100, 250, 500, 1000, 10_000, 100_000];

type Labels = Readonly<Record<string, string | number>>;

function formatLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const formatHead = (name: string, kind: string, help: string) => `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`;

/** Counts by labels. Labels have few values: no id is one. */
class Counter {
  readonly #counts = new Map<string, number>();
  readonly #name: string;
  readonly #help: string;

  constructor(name: string, help: string) {
    this.#name = name;
    this.#help = help;
  }

  add(labels: Labels = {}): void {
    const key = formatLabels(labels);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  format(): string {
    const lines = [...this.#counts].map(([labels, count]) => `${this.#name}${labels} ${count}\n`);
    return formatHead(this.#name, 'counter', this.#help) + lines.join('');
  }
}

/** Values in buckets with upper bounds, by labels. */
class Histogram {
  readonly #series = new Map<string, { readonly labels: Labels; readonly counts: number[]; sum: number }>();
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];

  constructor(name: string, help: string, bounds: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#bounds = bounds;
  }

  add(value: number, labels: Labels = {}): void {
    const key = formatLabels(labels);
    const counts = () => new Array<number>(this.#bounds.length + 1).fill(0);
    const series = this.#series.get(key) ?? { labels, counts: counts(), sum: 0 };
    this.#series.set(key, series);
    const bucket = this.#bounds.findIndex((bound) => value <= bound);
    const at = bucket < 0 ? this.#bounds.length : bucket;
    series.counts[at] = (series.counts[at] as number) + 1;
    series.sum += value;
  }

  format(): string {
    const lines = [...this.#series.values()].flatMap(({ labels, counts, sum }) => {
      let below = 0;
      const buckets = counts.map((count, at) => {
        below += count;
        return `${this.#name}_bucket${formatLabels({ ...labels, le: this.#bounds[at] ?? '+Inf' })} ${below}\n`;
      });
      const own = formatLabels(labels);
      return [...buckets, `${this.#name}_sum${own} ${sum}\n`, `${this.#name}_count${own} ${below}\n`];
    });
    return formatHead(this.#name, 'histogram', this.#help) + lines.join('');
  }
}

/** What a kernel counts, as Prometheus reads it. */
export class ServiceMetrics {
  readonly requests = new Counter('ragpp_kernel_requests_total', 'Requests by path and status.');
  readonly refusals = new Counter('ragpp_kernel_refusals_total', 'Requests that got no slice or no check, by reason.');
  readonly seconds = new Histogram('ragpp_kernel_request_seconds', 'Time of a request by path.', SECONDS);
  readonly turns = new Histogram(
    'ragpp_kernel_slice_turns',
    'Turns of a slice; its count is that of the slices.',
    TURNS,
  );

  /** Text in the exposition format of Prometheus, version 0.0.4. */
  format({ hits, misses }: CacheUse): string {
    const cache = [
      [...['ragpp_kernel_cache_hits_total', 'Slices whose turns were known.'], hits],
      [...['ragpp_kernel_cache_misses_total', 'Slices whose turns were walked.'], misses],
    ] as const;
    const counted = cache.map(
      ([name, help, count]) => `${formatHead(`${name}`, 'counter', `${help}`)}${name} ${count}\n`,
    );
    const parts = [this.requests, this.seconds, this.refusals, this.turns].map((part) => part.format());
    return [...parts, ...counted].join('');
  }
}
