import type { ExperimentResult } from '../../measure/result.ts';
import { listCurves, listEvidenceRows } from './evidence-table.ts';
import { formatControlsMarkdown } from './fit-controls.ts';
import { formatImportanceMarkdown } from './fit-importance.ts';
import {
  buildUsersLadder,
  describeTransfers,
  describeUsers,
  type Fitted,
  isFitted,
  listTransferRows,
  searchSentences,
} from './fit-table.ts';
import { describeLatency, listLatencyRows } from './latency-table.ts';
import { escapeMarkdown, formatLadderMarkdown, formatRowsAsPipeTable } from './pipe-table.ts';
import { describeStructureReach, listStructureRows, SURVIVES } from './structure-table.ts';
import { buildLadderTable } from './table.ts';

/** The ladder for README and results pages: the arms, their differences from the baseline, the legend, and what made the numbers. */
export function renderMarkdown(result: ExperimentResult): string {
  const table = buildLadderTable(result);
  const parts = [
    ...formatLadderMarkdown(table),
    ...buildStructureLines(result),
    [...table.legend, ...(isFitted(result) ? searchSentences(result.fit, result.baseline) : [])]
      .map(escapeMarkdown)
      .join('\n'),
    ...(table.notes.length === 0 ? [] : [table.notes.map((note) => `* ${escapeMarkdown(note)}`).join('\n')]),
    ...buildEvidenceLines(result),
    ...buildLatencyLines(result),
    ...(isFitted(result) ? buildFitLines(result) : []),
    formatProvenance(result),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** The curves of the arms that have one. */
function buildEvidenceLines({ arms }: ExperimentResult): string[] {
  if (listCurves(arms).length === 0) return [];
  const rows = listEvidenceRows(arms).map(([arm = '', ...figures]) => [escapeMarkdown(arm), ...figures]);
  return [
    'Evidence within tokens; the area over the logarithm of tokens, and the area if the relevant turns of the ranking were packed first:',
    formatRowsAsPipeTable(rows),
  ];
}

/** The times of the arms that were timed. */
function buildLatencyLines(result: ExperimentResult): string[] {
  if (result.arms.every(({ latency }) => latency === null)) return [];
  const note = describeLatency(result);
  const rows = listLatencyRows(result.arms).map((row) => row.map(escapeMarkdown));
  return ['Milliseconds a query by component:', formatRowsAsPipeTable(rows), ...(note === null ? [] : [note])];
}

/** The arms against their null controls; empty without controls. */
function buildStructureLines(result: ExperimentResult): string[] {
  const rows = listStructureRows(result).map(({ arm, control, cells }) => [
    escapeMarkdown(arm),
    control,
    ...cells.map(({ text }) => text),
  ]);
  if (rows.length === 0) return [];
  const head = ['arm', 'control', ...result.metrics.map(escapeMarkdown)];
  return [
    'Arms minus their null controls, with p:',
    formatRowsAsPipeTable([head, ...rows]),
    escapeMarkdown([SURVIVES, ...describeStructureReach(result)].join(' ')),
  ];
}

/** The provenance of the numbers. */
function formatProvenance({ name, hash, dataset, environment }: ExperimentResult): string {
  const { version, commit, backend, machine, seed, command } = environment;
  return escapeMarkdown(
    `Experiment ${name} (${hash}) on ${dataset.name} ${dataset.split}; version ${version}, commit ${commit}, backend ${backend}, ` +
      `${machine.cores} x ${machine.cpu}, seed ${seed}; ${command}`,
  );
}

/** Parts below the table of arms as Markdown: null controls, families of signals, users, other data. */
function buildFitLines(result: Fitted): string[] {
  const { fit, users, remarks } = result;
  const ofUsers =
    users === undefined
      ? []
      : [
          'Weights of users:',
          ...formatLadderMarkdown(buildUsersLadder(result, users)),
          buildUsersLadder(result, users).legend.map(escapeMarkdown).join('\n'),
          escapeMarkdown(describeUsers(users)),
        ];
  const transfer =
    fit.transfer.length === 0
      ? []
      : [
          'Weights on other data:',
          formatRowsAsPipeTable(listTransferRows(result).map((row) => row.map(escapeMarkdown))),
          describeTransfers(result).map(escapeMarkdown).join('\n'),
        ];
  const sentences = remarks.map(escapeMarkdown).join('\n');
  return [...formatControlsMarkdown(result), ...formatImportanceMarkdown(result), ...ofUsers, ...transfer, sentences];
}
