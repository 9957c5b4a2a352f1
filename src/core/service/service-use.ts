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
