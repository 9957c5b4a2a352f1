/** What calls of a service have used. */
export interface EndpointUse {
  /** Answered requests. */
  readonly requests: number;
  /** Attempts that failed and were repeated. */
  readonly retries: number;
  /** As the service counts them. */
  readonly tokens: number;
  /** Answered requests without a count of tokens. */
  readonly uncounted: number;
  /** In the currency of the price; null without a price. */
  readonly cost: number | null;
}

/** Counts requests, tokens and their price. */
export class EndpointLedger {
  readonly #price: number | null;
  #requests = 0;
  #retries = 0;
  #tokens = 0;
  #uncounted = 0;

  /** @param pricePerMillionTokens null if unknown */
  constructor(pricePerMillionTokens: number | null) {
    this.#price = pricePerMillionTokens;
  }

  /** @param tokens null if the service did not count them */
  addRequest(tokens: number | null): void {
    this.#requests++;
    if (tokens === null) this.#uncounted++;
    else this.#tokens += tokens;
  }

  addRetry(): void {
    this.#retries++;
  }

  read(): EndpointUse {
    return {
      requests: this.#requests,
      retries: this.#retries,
      tokens: this.#tokens,
      uncounted: this.#uncounted,
      cost: this.#price === null ? null : (this.#tokens / 1e6) * this.#price,
    };
  }

  /** `12 requests, 1 retries, 5231 tokens, cost 0.000105 at 0.02 per million tokens` */
  describe(): string {
    const { requests, retries, tokens, uncounted, cost } = this.read();
    return [
      `${requests} requests`,
      ...(retries === 0 ? [] : [`${retries} retries`]),
      `${tokens} tokens`,
      ...(uncounted === 0 ? [] : [`${uncounted} requests without a count of tokens`]),
      ...(cost === null ? [] : [`cost ${Number(cost.toPrecision(3))} at ${this.#price} per million tokens`]),
    ].join(', ');
  }
}
