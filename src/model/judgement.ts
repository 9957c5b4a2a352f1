/** The grades of a judge: 0 unrelated, 1 related without an answer, 2 a partial or unclear answer, 3 the answer. Source: upadhyay2024umbrela. */
export const GRADES = Object.freeze([0, 1, 2, 3] as const);

/** A grade that a named judge gives a document for a query. */
export interface Judgement {
  readonly queryId: string;
  readonly id: string;
  /** One of {@link GRADES}. */
  readonly grade: number;
  /** The person or model. */
  readonly judge: string;
}

/** A pair of query and document that a judge reads. */
export interface PairToJudge {
  readonly queryId: string;
  readonly queryText: string;
  readonly id: string;
  readonly text: string;
  /** The kind of query, such as exact, paraphrase or multi-hop; null if unknown. */
  readonly stratum: string | null;
  /** The person or model that wrote the query. */
  readonly generator: string;
  /** Whether query and text must stay on this machine. */
  readonly sensitive: boolean;
}
