import type { BaselineComparison } from '../../src/eval/significance/significance.ts';
import { formatDecimal, formatInterval, formatSigned } from '../../src/lab/report/tables/format.ts';
import { formatPipeTable, type TextTable } from '../text-table.ts';
import type { PartFigure, PlantedCell } from './comparisons.ts';
import type { MailArm, MailFigures } from './mail.ts';
import { POLICIES } from './policies.ts';
import type { OutcomeLearningSettings } from './settings.ts';

const MARKS = { better: ' ▲', worse: ' ▼', undecided: '' } as const;

function formatDifference({ difference, verdict }: BaselineComparison): string {
  const ends = formatInterval(difference, formatSigned, 3);
  return `${[formatSigned(difference.mean, 3), ends].filter(Boolean).join(' ')}${MARKS[verdict]}`;
}

const nameCell = ({ strength, alpha }: PlantedCell) => `strength ${strength}, alpha ${alpha}`;

/** The heads of the parts of a run, and of all of them. */
function listPartHeads({ planted: { outcomes } }: OutcomeLearningSettings): string[] {
  return [...outcomes.map((end, i) => `${outcomes[i - 1] ?? 0} to ${end}`), 'all'];
}

/** From how many outcomes for each record on a policy is better than similarity alone. */
export function buildReachTable(cells: readonly PlantedCell[]): TextTable {
  return {
    head: ['better than similarity', ...cells.map(nameCell)],
    rows: POLICIES.slice(1).map(({ name }, i) => [
      name,
      ...cells.map(({ policies }) => {
        const from = policies[i + 1]?.helpsFrom ?? null;
        return from === null ? 'does not' : `from ${from}`;
      }),
    ]),
  };
}

function buildPolicyTable(cell: PlantedCell, settings: OutcomeLearningSettings): TextTable {
  const formatPart = ({ mean, gain }: PartFigure) => (gain === null ? formatDecimal(mean, 3) : formatDifference(gain));
  return {
    head: [nameCell(cell), ...listPartHeads(settings)],
    rows: cell.policies.map(({ name, parts }) => [name, ...parts.map(formatPart)]),
  };
}

function buildExplorationTable(cells: readonly PlantedCell[], settings: OutcomeLearningSettings): TextTable {
  return {
    head: ['exploration', ...listPartHeads(settings)],
    rows: cells.flatMap((cell) =>
      POLICIES.flatMap(({ name, greedy }, i) =>
        greedy === null
          ? []
          : [
              [
                `${name} minus ${greedy}, ${nameCell(cell)}`,
                ...(cell.policies[i]?.parts ?? []).map(
                  ({ exploration }) => exploration && formatDifference(exploration),
                ),
              ].map((text) => text ?? ''),
            ],
      ),
    ),
  };
}

function buildMailTable({ arm, rows }: MailArm): TextTable {
  return {
    head: [
      arm,
      'outcomes before a query',
      'alpha',
      'minus the arm',
      'exchanged: alpha',
      'minus the arm',
      'minus exchanged',
    ],
    rows: rows.map(({ failure, share, outcomes, real, exchanged, information }) => [
      `failures ${String(failure).replace('-', '−')}, ${Math.round(100 * share)} % recorded`,
      String(Math.round(outcomes)),
      String(real.alpha),
      formatDifference(real.gain),
      String(exchanged.alpha),
      formatDifference(exchanged.gain),
      formatDifference(information),
    ]),
  };
}

/** Tables and sentences, Markdown each. */
export function buildOutcomeSections(
  cells: readonly PlantedCell[],
  mail: MailFigures,
  settings: OutcomeLearningSettings,
): string[] {
  const { planted, level } = settings;
  const percent = `${Number((100 * level).toFixed(3))} %`;
  return [
    '### At which number of outcomes',
    formatPipeTable(buildReachTable(cells)),
    `Outcomes recorded for each record, on average, from which on a policy shows records with a higher chance of success than similarity alone: corrected p below the level in this part of the runs and all later ones. ${planted.worlds} worlds of ${planted.topics} topics with ${planted.records} records each; a question finds ${planted.pool} records and shows ${planted.shown}.`,
    '### Chance of success of what is shown',
    ...cells.map((cell) => formatPipeTable(buildPolicyTable(cell, settings))),
    `The first row is the mean chance, the others are differences to it, by outcomes recorded for each record. Brackets: ${percent} intervals, clustered by topic; ▲ better, ▼ worse by clustered permutation tests, corrected by Holm over the policies of a part.`,
    '### What exploration costs',
    formatPipeTable(buildExplorationTable(cells, settings)),
    'A policy that explores minus the same policy without exploration. Below 0: the price. Marks are not corrected.',
    '### Mail',
    ...mail.arms.map((arm) => formatPipeTable(buildMailTable(arm))),
    `${settings.mail.metric} of the arms: ${mail.arms.map(({ arm, mean }) => `${arm} ${formatDecimal(mean, 3)}`).join(', ')}. Each alpha is the best of ${settings.mail.alphas.join(', ')} on dev. ${mail.queries.test} test queries of ${mail.queries.clusters} threads, ${mail.queries.dev} dev queries. ${formatDecimal(mail.rate, 3)} of the messages are answered. The outcome of the message that a query looks for is recorded before the query for ${formatDecimal(mail.reached, 3)} of the test queries. Brackets: ${percent} intervals, clustered by thread; ▲ better, ▼ worse, the differences to the arm corrected by Holm over its table.`,
  ];
}
