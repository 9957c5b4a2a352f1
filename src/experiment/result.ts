import type { Interval } from '../evaluation/bootstrap-interval.ts';
import type { BaselineComparison } from '../evaluation/significance.ts';
import type { Turn } from '../model/turn.ts';

export type { Interval };
/** An arm against the baseline in one metric. */
export type Comparison = BaselineComparison;

/** What a run leaves behind for reports and files; plain data, every array in the order of `queries`. */
export interface ExperimentResult {
  readonly name: string;
  readonly hash: string;
  readonly description: string;
  readonly environment: Environment;
  /** The resolved config, as it ran. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly dataset: DatasetSummary;
  readonly queries: readonly QueryRecord[];
  /** Column ids in order, for example `mrr@10`. */
  readonly metrics: readonly string[];
  readonly statistics: {
    /** Resamples of the bootstrap, and sign vectors of the permutation test. */
    readonly samples: number;
    /** Confidence of the intervals; a corrected p below 1 - level is marked. */
    readonly level: number;
  };
  /** The arm that the others are compared with. */
  readonly baseline: string;
  readonly arms: readonly ArmResult[];
  /** Sentences about the run as a whole, such as the recall of an approximate index against the exact one. */
  readonly remarks: readonly string[];
  /** Seconds by stage, in order. Never part of a metric. */
  readonly timings: readonly { readonly stage: string; readonly seconds: number }[];
}

export interface Environment {
  readonly version: string;
  readonly commit: string;
  readonly node: string;
  readonly backend: string;
  readonly packages: Readonly<Record<string, string>>;
  readonly machine: {
    readonly platform: string;
    readonly cpu: string;
    readonly cores: number;
    readonly memoryGiB: number;
  };
  readonly seed: number;
  readonly command: string;
}

export interface DatasetSummary {
  readonly name: string;
  readonly task: string;
  readonly features: readonly string[];
  readonly licence: string;
  readonly relevantGrade: number;
  readonly gradeNames: Readonly<Record<number, string>>;
  readonly hash: string;
  readonly split: string;
  readonly facts: Readonly<Record<string, number>>;
  /** The turns that the inspector shows: every ranked turn and every turn of a relevant conversation. */
  readonly turns: readonly TurnRecord[];
}

/** A turn with its text shortened for display. */
export type TurnRecord = Turn;

export interface QueryRecord {
  readonly id: string;
  readonly text: string;
  readonly timestamp: number;
  readonly author: string | null;
  readonly channel: string | null;
  readonly cluster: string;
  /** The turn that the query itself is in the conversation, where it is one. */
  readonly turnId: string | null;
  /** Judged turns and their grades. */
  readonly judgements: Readonly<Record<string, number>>;
}

export interface ArmResult {
  readonly name: string;
  readonly description: string;
  /** What tuning on dev chose; empty where nothing was tuned. */
  readonly tuned: Readonly<Record<string, unknown>>;
  readonly metrics: Readonly<Record<string, Interval>>;
  /** By metric; absent for the baseline itself. */
  readonly comparisons: Readonly<Record<string, Comparison>> | null;
  /** By metric, a value a query. */
  readonly perQuery: Readonly<Record<string, readonly number[]>>;
  /** Names of the components of a score, in the order of `RankedTurn.components`. */
  readonly componentNames: readonly string[];
  /** The top of each query's ranking. */
  readonly rankings: readonly (readonly RankedTurn[])[];
  /** Unjudged turns among the top k, summed over the queries. */
  readonly holes: number;
}

export interface RankedTurn {
  readonly id: string;
  readonly score: number;
  readonly components: readonly number[];
}
