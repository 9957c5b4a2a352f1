/** Use of a service by all calls together. */
export interface ServiceUse {
  /** The model's name at the service. */
  readonly model: string;
  /** Texts of answered requests. */
  readonly texts: number;
  /** Answered requests. */
  readonly requests: number;
  /** Attempts that failed and were repeated. */
  readonly retries: number;
  /** Tokens as the service counts them. */
  readonly tokens: number;
  /** Answered requests without a count of tokens. */
  readonly uncounted: number;
  /** In the currency of the price; null without a price. */
  readonly cost: number | null;
}

/** Counts requests, tokens and their price. */
export class EndpointLedger {
  readonly #model: string;
  readonly #price: number | null;
  #texts = 0;
  #requests = 0;
  #retries = 0;
  #tokens = 0;
  #uncounted = 0;

  /** @param pricePerMillionTokens null if unknown */
  constructor(model: string, pricePerMillionTokens: number | null) {
    this.#model = model;
    this.#price = pricePerMillionTokens;
  }

  /** @param tokens null if the service did not count them */
  addRequest(texts: number, tokens: number | null): void {
    this.#texts += texts;
    this.#requests++;
    if (tokens === null) this.#uncounted++;
    else this.#tokens += tokens;
  }

  addRetry(): void {
    this.#retries++;
  }

  read(): ServiceUse {
    return {
      model: this.#model,
      texts: this.#texts,
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
