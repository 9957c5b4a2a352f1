import type { Estimate } from '../../src/eval/intervals/mean-intervals.ts';
import { chooseVerdict } from '../../src/eval/significance/verdict.ts';
import {
  estimate,
  formatDecimal,
  formatInterval,
  formatProbability,
  formatSigned,
  formatSignificant,
} from '../../src/lab/report/tables/format.ts';
import { formatPipeTable, type TextTable } from '../text-table.ts';
import { type ArmResult, type BrierDifference, REFERENCES, type TaskResult } from './measure.ts';
import type { PriorCalibrationSettings } from './settings.ts';

const formatShare = (share: Estimate) => estimate(share, formatDecimal, 3);
const formatFine = ({ mean, ...ends }: Estimate) =>
  [formatDecimal(mean, 4), formatInterval(ends, formatDecimal, 3)].filter(Boolean).join(' ');

function formatChosen(chosen: ArmResult['chosen']): string {
  return Object.entries(chosen)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}

/** A lower Brier score is better. */
function formatDifference(found: BrierDifference | undefined, level: number): string {
  if (found === undefined) return '';
  const { difference, correctedP } = found;
  const mark = { better: ' ▼', worse: ' ▲', undecided: '' }[chooseVerdict(difference.mean, { correctedP }, level)];
  const ends = formatInterval(difference, formatSigned, 3);
  return `${[formatSigned(difference.mean, 4), ends].filter(Boolean).join(' ')}, p ${formatProbability(correctedP, 1 - level)}${mark}`;
}

/** Brier score and calibration error of each arm. */
export function buildScoreTable({ name, arms }: TaskResult, { level }: PriorCalibrationSettings): TextTable {
  return {
    head: [
      name,
      'chosen on dev',
      'Brier score',
      ...REFERENCES.map((reference) => `minus ${reference}`),
      'calibration error',
    ],
    rows: arms.map(({ name: arm, chosen, brier, differences, calibration, calibrationError }) => [
      arm,
      formatChosen(chosen),
      formatFine(brier),
      ...REFERENCES.map((reference) => formatDifference(differences[reference], level)),
      formatFine({ mean: calibration.expectedError, ...calibrationError }),
    ]),
  };
}

/** What the intervals of each arm with neighbours cover. */
export function buildCoverageTable({ name, arms }: TaskResult): TextTable {
  return {
    head: [name, 'rate of the bin', 'drawn with that rate', 'by Student', 'the outcome', 'median width'],
    rows: arms.flatMap(({ name: arm, coverage }) =>
      coverage === null
        ? []
        : [
            [
              arm,
              ...[coverage.rate, coverage.drawnRate, coverage.rateByStudent, coverage.outcome].map(formatShare),
              coverage.medianWidth === null ? '' : formatSignificant(coverage.medianWidth),
            ],
          ],
    ),
  };
}

/** Predicted and observed shares of the arm that mixes by confidence, for each bin with turns. */
export function buildReliabilityTable({ name, arms }: TaskResult): TextTable {
  const bins = arms.find((arm) => arm.name === 'prior')?.calibration.bins ?? [];
  return {
    head: [`${name}: bin`, 'turns', 'predicted', 'observed'],
    rows: bins.flatMap(({ low, high, count, predicted, observed }) =>
      predicted === null || observed === null
        ? []
        : [
            [
              `${formatDecimal(low, 2)} to ${formatDecimal(high, 2)}`,
              String(count),
              formatDecimal(predicted, 3),
              formatDecimal(observed, 3),
            ],
          ],
    ),
  };
}

function describeTask({ name, dev, test, facts }: TaskResult): string {
  const counts = Object.entries(facts)
    .filter(([, count]) => count > 0)
    .map(([fact, count]) => `${fact} ${count}`);
  return `${name}: ${dev.turns} dev turns with a rate of ${formatDecimal(dev.rate, 3)}, ${test.turns} test turns with ${formatDecimal(test.rate, 3)} in ${test.clusters} clusters. ${counts.join('; ')}.`;
}

/** Tables and sentences, Markdown each. */
export function buildPriorSections(tasks: readonly TaskResult[], settings: PriorCalibrationSettings): string[] {
  const percent = `${Number((100 * settings.level).toFixed(3))} %`;
  return [
    '### Predictions',
    ...tasks.map((task) => formatPipeTable(buildScoreTable(task, settings))),
    `Test turns. Lower is better: ▲ better, ▼ worse (sign-flip test clustered by thread, Holm over the arms and both references of a task). Brackets: ${percent} intervals, clustered by thread; of the calibration error percentiles of resamples, which lie above a small error. k, power, kappa and latest are chosen by the Brier score on dev; the default prior is not chosen.`,
    '### Coverage of the 95 % interval',
    ...tasks.map((task) => formatPipeTable(buildCoverageTable(task))),
    `Shares of test turns whose interval holds the observed rate of the turns in the same of ${settings.bins} bins of the prior's mean. Drawn: the same neighbours and weights, but each outcome is drawn with that rate, so that nothing but the interval can be wrong. By Student: the interval that does not know the range of outcomes. The outcome: the share whose interval holds the outcome itself, 0 or 1.`,
    '### Reliability of the prior',
    ...tasks.map((task) => formatPipeTable(buildReliabilityTable(task))),
    ...tasks.map(describeTask),
  ];
}
