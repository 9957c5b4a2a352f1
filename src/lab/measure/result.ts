import { z } from 'zod';
import type { ShowableText } from '../../core/display/display.ts';
import type { Estimate, Interval } from '../../eval/intervals/mean-intervals.ts';
import type { CorrectionName, TestName } from '../../eval/significance/multiple-comparisons.ts';
import type { BaselineComparison, ClusteredTest } from '../../eval/significance/significance.ts';
import type { DatasetDeclaration } from '../../model/dataset.ts';
import type { EncoderUse } from '../../model/encoder.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { StrategyName } from '../../rank/query/strategy.ts';
import type { StepChange } from '../../rank/retrieval/step-changes.ts';
import type { MemorySignals } from '../../rank/signals/memory-signals.ts';
import type { StageCounts } from '../../rank/signals/stage.ts';
import type { ArmConservation } from './conservation.ts';
import type { EvidenceCurve } from './evidence-curve.ts';
import type { FitResult } from './fit-result.ts';
import type { MetricPassport } from './passport.ts';

/** The place of a look at a test split among all that are known. */
export const numberedLook = z.object({
  dataset: z.string(),
  /** Among the looks at the split: 1 for the first. */
  number: z.int(),
  /** Among the looks at the same queries of the same data. */
  numberAtQueries: z.int(),
  /** The number of measured test queries, also those without a relevant turn. */
  queries: z.int(),
});
export type NumberedLook = z.output<typeof numberedLook>;

/** The sentence of tables and reports. */
export function formatLook({ dataset, number, numberAtQueries, queries }: NumberedLook): string {
  const among = number === numberAtQueries ? '' : `, look ${numberAtQueries} at these queries`;
  return `Look ${number} at the test split of ${dataset} (${queries} test queries${among}).`;
}

export type { Estimate, EvidenceCurve, Interval, MetricPassport };
/** An arm against the baseline in one metric. */
export type Comparison = BaselineComparison;

/** The result of a run for reports and files; plain data, every array in the order of `queries`. */
export interface ExperimentResult {
  readonly name: string;
  readonly hash: string;
  readonly description: string;
  readonly environment: Environment;
  /** The resolved config, as it ran. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly dataset: DatasetSummary;
  readonly queries: readonly QueryRecord[];
  /** Evaluated queries without a relevant turn; they are in no figure. */
  readonly unanswerable: readonly QueryRecord[];
  /** Column ids in order, for example `mrr@10`. */
  readonly metrics: readonly string[];
  readonly statistics: {
    /** The paired test behind every p, and the correction for comparing several arms. */
    readonly test: TestName;
    readonly correction: CorrectionName;
    /** Resamples of the bootstrap, and sign vectors of the permutation test, of which there are more where p is near its bound. */
    readonly samples: number;
    /** Confidence of the intervals; a corrected p below 1 - level is marked. */
    readonly level: number;
  };
  /** The arm that the others are compared with. */
  readonly baseline: string;
  /** The arms that ran to the end, in the order of the config. */
  readonly arms: readonly ArmResult[];
  /** Arms that failed; they are in no figure. */
  readonly failures: readonly ArmFailure[];
  /** Arms that a race stopped before the last round; they are in no comparison. */
  readonly stopped: readonly StoppedArm[];
  /** The exact definition of each metric's figures, by metric. */
  readonly passports: Readonly<Record<string, MetricPassport>>;
  /** Ways to divide the queries; only those with at least two levels that have queries. */
  readonly strata: readonly Stratum[];
  /** The design of the arms, if a sweep generated them. */
  readonly sweep: SweepSummary | null;
  /** The model whose numbers the arms choose, by conversations that they are not measured on; absent without a fit. */
  readonly fit?: FitResult | undefined;
  /** Absent where no weights of users were learned. */
  readonly users?: UserFit | undefined;
  /** How often each stage was executed or taken from a store. Differs between runs of the same experiment. */
  readonly stages: StageCounts;
  /** Sentences about the run as a whole, such as the recall of an approximate index against the exact one. */
  readonly remarks: readonly string[];
  /** Which look at a test split this is; absent without a test query, and where looks are not counted. */
  readonly look?: NumberedLook;
  /** Errors of protocol in rankings that were read from files, and fusions that bar a list; absent for a run of an experiment without any. */
  readonly warnings?: readonly ProtocolWarning[];
  /** The maximum number of arms run at the same time, over all commands: an arm takes longer beside others. */
  readonly armsAtOnce: number;
  /** Seconds by stage, in order. Never part of a metric. */
  readonly timings: readonly { readonly stage: string; readonly seconds: number; readonly launches: number }[];
}

/** An error of protocol: figures exist, but do not mean what a reader expects. */
export interface ProtocolWarning {
  /** Its kind, stable. */
  readonly code: string;
  /** The system that it is about; null for the judgements, the metrics or all systems. */
  readonly system: string | null;
  /** One sentence: what is wrong, the value, and what to do. */
  readonly message: string;
}

/** What a run was computed with: version, commit, Node, tensor backend, packages, machine, seed and command line. It is stored as `environment.json`. */
export interface Environment {
  readonly version: string;
  readonly commit: string;
  /** When a run was begun, as `2026-01-31T23:59:59Z`; missing in trainings, whose files depend on nothing else, and in runs of version 0.1.0. */
  readonly date?: string | undefined;
  readonly node: string;
  readonly backend: string;
  /** Why it was this backend; missing in runs of earlier versions. */
  readonly backendReason?: string | undefined;
  readonly packages: Readonly<Record<string, string>>;
  readonly machine: {
    readonly platform: string;
    readonly cpu: string;
    readonly cores: number;
    readonly memoryGiB: number;
  };
  readonly seed: number;
  readonly command: string;
  /** The plugins of the config: name, version, hash of the code, and module; missing where there are none. */
  readonly plugins?:
    | readonly {
        readonly name: string;
        readonly version: string;
        readonly hash: string;
        readonly module: string | null;
      }[]
    | undefined;
  /** From the working directory: the folder that the path of the data is relative to, where that is not the working directory itself. */
  readonly dataFolder?: string | undefined;
  /** The calls of services that embedded texts, one entry for each encoder of each process; missing if all vectors were in the cache. Affects no hash. */
  readonly encoderUse?: readonly EncoderUse[] | undefined;
}

/** The dataset of a run: its declaration, its grades of relevance, the hash of its content, the evaluated split, and the turns that reports show. */
export interface DatasetSummary extends DatasetDeclaration {
  readonly name: string;
  readonly relevantGrade: number;
  readonly gradeNames: Readonly<Record<number, string>>;
  readonly hash: string;
  readonly split: string;
  readonly facts: Readonly<Record<string, number>>;
  /** The turns that the inspector shows: every ranked turn and every turn of a relevant conversation. */
  readonly turns: readonly TurnRecord[];
}

/** A turn with its text shortened for display. */
export interface TurnRecord extends Omit<Turn, 'text' | 'attributes'> {
  readonly text: ShowableText;
}

/** A query as a result stores it: its text, its moment, its author and channel, the cluster of the statistics, and its judgements. */
export interface QueryRecord {
  readonly id: string;
  readonly text: ShowableText;
  /** Milliseconds since 1970-01-01 UTC. */
  readonly timestamp: number;
  readonly author: string | null;
  readonly channel: string | null;
  readonly cluster: string;
  /** The kind of query, if the dataset declares it. */
  readonly kind: string | null;
  /** The turn of the conversation that is the query, if any. */
  readonly turnId: string | null;
  /** Judged turns and their grades. */
  readonly judgements: Readonly<Record<string, number>>;
}

/** One arm of a finished experiment: its resolved options, its figures by metric, its top rankings, and where it lost relevant turns. */
export interface ArmResult {
  readonly name: string;
  readonly description: string;
  /** All options, defaults and tuned values in place. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The level of each factor, of an arm that a sweep made. */
  readonly levels: Readonly<Record<string, string>> | null;
  /** Of a null control: the arm that it controls and the structure that it destroys. */
  readonly control: { readonly of: string; readonly kind: string } | null;
  /** The part of its gain due to structure; null for an arm without null controls. */
  readonly structure: Structure | null;
  /** The values tuned on dev; empty without tuning. */
  readonly tuned: Readonly<Record<string, unknown>>;
  readonly metrics: Readonly<Record<string, Estimate>>;
  /** By metric; absent for the baseline itself. */
  readonly comparisons: Readonly<Record<string, Comparison>> | null;
  /** By metric, a value a query. */
  readonly perQuery: Readonly<Record<string, readonly number[]>>;
  /** Names of the components of a score, in the order of `RankedTurn.components`. */
  readonly componentNames: readonly string[];
  /** Names of the parts that add up to a score, in the order of `RankedTurn.contributions`; missing where a record has none. */
  readonly contributionNames?: readonly string[] | undefined;
  /** Names of the trajectory coordinates of `RankedTurn.coordinates`; missing or empty where the arm has none. */
  readonly coordinateNames?: readonly string[] | undefined;
  /** The top of each query's ranking. */
  readonly rankings: readonly (readonly RankedTurn[])[];
  /** Unjudged turns among the top k, summed over the queries. */
  readonly holes: number;
  /** By stratum, level and metric. */
  readonly strata: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, StratumValue>>>>>>;
  /** Relevant turns by the stage that lost them, `kept` among the stages. */
  readonly attribution: Readonly<Record<string, number>>;
  /** Missing in runs of earlier versions. */
  readonly steps?: readonly StepEffect[];
  /** Of an arm with slices: their sizes, and the relevant turns outside of them. */
  readonly slices?: SliceSummary;
  /** For each query: relevant turn -> the stage that lost it, or `kept`. */
  readonly losses: readonly Readonly<Record<string, string>>[];
  /** Milliseconds a query, by component; null if not timed. */
  readonly latency: Readonly<Record<string, Latency>> | null;
  /** Evidence against tokens; only with `evaluation.tokenBudgets`. */
  readonly evidence?: EvidenceCurve;
  /** The conservation of what each query was shown; only with `evaluation.conservation`. */
  readonly conservation?: ArmConservation;
  /** Only of an arm that was run with several seeds: its figures are means over them. */
  readonly seeds?: SeedSpread;
}

/** A step of an arm with the number of ranked queries that it changes, those without a relevant turn included. */
export interface StepEffect extends StepChange {
  /** The number of queries that were ranked. */
  readonly of: number;
  /** Why the step changes none of them; absent where it changes any. */
  readonly reason?: string;
}

/** Relevant turns, and how many of them were outside of the slices of their queries. */
export interface Inadmissible {
  readonly relevant: number;
  readonly inadmissible: number;
}

/** The slices of an arm's queries. */
export interface SliceSummary extends Inadmissible {
  /** Name, version and hash of the policy. */
  readonly policyRef: string;
  readonly queries: number;
  /** Turns a query; 0 of a refused query. */
  readonly meanTurns: number;
  /** Queries without an anchor that the policy gives a slice. */
  readonly unanchored: number;
  /** Queries without an anchor that the policy refuses: they see nothing. */
  readonly refused: number;
  /** By stratum and level. */
  readonly strata: Readonly<Record<string, Readonly<Record<string, Inadmissible>>>>;
}

/** The seeds of an arm. */
export interface SeedSpread {
  /** With how many it was run. */
  readonly count: number;
  /** By metric, the standard deviation of the seeds' means. */
  readonly deviations: Readonly<Record<string, number>>;
}

/** An arm against its null controls, see `structureOf`. */
export interface Structure {
  /** The kinds of controls that its gain survives in some metric. */
  readonly survives: readonly string[];
  readonly metrics: Readonly<Record<string, StructureTest>>;
}

/** An arm against its null controls in one metric. */
export interface StructureTest {
  /** The kinds of controls that the gain survives: arm and control are both better than the baseline, and the arm is not better than the control. */
  readonly survives: readonly string[];
  /** By kind: the arm minus its control, corrected over the arm's controls. */
  readonly controls: Readonly<Record<string, Comparison>>;
}

/** An arm that failed: the code of the error and its message. */
export interface ArmFailure {
  readonly name: string;
  readonly description: string;
  readonly code: string;
  readonly message: string;
}

/** An arm that a race stopped: its mean of a metric on the queries that it ran, and its difference from the best arm on them. */
export interface StoppedArm {
  readonly name: string;
  readonly description: string;
  /** The number of queries it had run when it was stopped. */
  readonly queries: number;
  readonly metric: string;
  /** The mean of `metric` over those queries. */
  readonly mean: number;
  /** This arm minus the best one on those queries. */
  readonly difference: Interval;
  /** Corrected over the arms that were still in the race. */
  readonly p: number;
}

/** A division of the queries, as of each query's moment. */
export interface Stratum {
  readonly name: string;
  readonly description: string;
  /** Queries by their place in `queries`; no level is empty. */
  readonly levels: readonly { readonly name: string; readonly queries: readonly number[] }[];
}

/** An arm in one metric on the queries of one level. */
export interface StratumValue {
  readonly mean: number;
  /** Arm minus baseline; null for the baseline, and if the level's queries are of one or two conversations. */
  readonly difference: Interval | null;
  /** Null for the baseline, and if the level has too few conversations for a test. */
  readonly p: number | null;
  /** By Holm over the levels of the stratum and the arms. */
  readonly correctedP: number | null;
}

/** The design of a sweep: its method, its factors with their levels, and the measured interactions between pairs of factors. */
export interface SweepSummary {
  readonly method: string;
  /** The arm that every arm of the sweep extends. */
  readonly arm: string;
  readonly factors: readonly { readonly name: string; readonly levels: readonly string[] }[];
  readonly interactions: readonly Interaction[];
}

/** The interaction of two factors, for one pair of levels. */
export interface Interaction extends ClusteredTest {
  readonly factors: readonly [string, string];
  readonly metric: string;
  readonly levels: readonly [string, string];
  readonly effect: Estimate;
}

/** Percentiles of the time of a query: the median, the 95th and the 99th, in milliseconds. */
export interface Latency {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** A turn in a ranking: its id, its score, and the components of the score, which are named by {@link ArmResult}. */
export interface RankedTurn {
  readonly id: string;
  readonly score: number;
  /** In the order of `ArmResult.componentNames`. */
  readonly components: readonly number[];
  /** In the order of `ArmResult.contributionNames`: parts that add up to the score, or to the score before a selection. */
  readonly contributions?: readonly number[] | undefined;
  /** Trajectory coordinates of the turn, then those of the query in the frame of the turn's conversation. */
  readonly coordinates?: readonly number[] | undefined;
  /** Of an arm with the signal `strategy`: the signal without which the score would fall most, as a sentence. */
  readonly reason?: string;
}

/** The weights of one user for questions of one strategy. */
export interface LearnedUser {
  readonly user: string;
  readonly strategy: StrategyName;
  /** The questions that they are learned from. */
  readonly questions: number;
  /** The share of the learned weights; the rest is the strategy's. */
  readonly share: number;
  readonly weights: MemorySignals;
}

/** The weights of users: the arms compared with the weights of the strategies, and all that was learned. */
export interface UserFit {
  readonly arms: readonly ArmResult[];
  readonly baseline: string;
  /** Users who ask at least one query. */
  readonly asked: number;
  /** Only of users with enough questions. */
  readonly learned: readonly LearnedUser[];
  /** The file of the weights within the folder. */
  readonly file: string;
}

/** A result whose arms choose the numbers of a model. */
export type Fitted = ExperimentResult & { readonly fit: FitResult };

/** True if the arms of a result choose the numbers of a model. */
export function isFitted(result: ExperimentResult): result is Fitted {
  return result.fit !== undefined;
}
