import { formatDecimal, formatSignificant } from '../../src/lab/report/tables/format.ts';
import type { TextTable } from '../text-table.ts';
import type { BandError } from './band-errors.ts';
import type { FindingsResult } from './experiment.ts';
import type { FarMass, FarShares } from './far-mass.ts';
import type { InformationFalls } from './information-falls.ts';
import type { ReversalEffect } from './literal-ircp.ts';
import type { PropagationEffect } from './propagation-effect.ts';
import type { FindingsSettings } from './settings.ts';
import type { ThreadEnergy } from './thread-energy.ts';

/** A table with the text above and below it. */
interface TitledTable extends TextTable {
  readonly title: string;
  readonly note: string;
}

const SELF = { include: 'kept', exclude: 'left out' } as const;

const count = (value: number) => value.toLocaleString('en');

export function buildReversalTable(effects: readonly ReversalEffect[]): TitledTable {
  return {
    title: 'IRCP beside RCP',
    head: [
      'the message itself: messages in the thread',
      'threads',
      'messages',
      'literal IRCP − RCP: greatest',
      'directed − literal IRCP: greatest',
      'mean',
    ],
    rows: effects.map(({ self, lengths, threads, messages, literal, directed }) => [
      `${SELF[self]}: ${lengths}`,
      count(threads),
      count(messages),
      formatSignificant(literal.greatest),
      formatDecimal(directed.greatest, 3),
      formatDecimal(directed.mean, 3),
    ]),
    note: 'Differences between the weights that a message of a thread gives the others and, where it is kept among its keys, itself; the mean is over messages, of the greatest difference of each. Multiplicative, decay .5, temperature .1.',
  };
}

const formatFarShares = (values: FarShares) => values.map((share) => (share === null ? '—' : formatSignificant(share)));

export function buildFarTable(masses: readonly FarMass[], { windows, sampledMessages }: FindingsSettings): TitledTable {
  const listWindowColumns = (combine: string) => windows.map((window) => `${combine}: beyond ${window}`);
  return {
    title: 'Attention on far messages',
    head: [
      'the message itself: conversation',
      ...listWindowColumns('multiplicative'),
      ...listWindowColumns('additive'),
    ],
    rows: masses.map(({ conversation, self, multiplicative, additive }) => [
      `${SELF[self]}: ${conversation}`,
      ...formatFarShares(multiplicative),
      ...formatFarShares(additive),
    ]),
    note: `Share of a message's attention on keys more than ${windows.join(', ')} steps away, mean over at most ${count(sampledMessages)} messages of each conversation, spread evenly. The first messages of the corpus are read as one conversation in the order of time. Ring, no direction, decay .5, temperature .1.`,
  };
}

export function buildBandTable(errors: readonly BandError[], messages: number, sampled: number): TitledTable {
  return {
    title: 'The band and its error',
    head: ['attention', 'error asked for', 'W', 'proven bound', 'found'],
    rows: errors.map(({ attention, band, observed }) => [
      attention,
      ...(band === null
        ? ['none: dense', '—', '—']
        : [formatSignificant(band.tolerance), count(band.width), formatSignificant(band.bound)]),
      formatSignificant(observed),
    ]),
    note: `The ${count(messages)} messages in the order of time as one conversation. Found: the greatest Euclidean distance of ${count(Math.min(sampled, messages))} rows, spread evenly, from dense attention in float64. What is found of the dense form is what float32 rounds.`,
  };
}

export function buildPropagationTable(effects: readonly PropagationEffect[]): TitledTable {
  const formatCosineDigits = (cosine: number | null) => (cosine === null ? '—' : formatDecimal(cosine, 3));
  return {
    title: 'What propagation moves',
    head: [
      'settings',
      'weight of itself',
      'cosine before and after',
      'least',
      'cosine of a reply and its parent, after',
    ],
    rows: effects.map(({ settings, ownWeight, unchanged, mostChanged, parentAfter }) => [
      settings,
      formatDecimal(ownWeight, 4),
      formatDecimal(unchanged, 6),
      formatDecimal(mostChanged, 6),
      formatCosineDigits(parentAfter),
    ]),
    note: `Means over the messages of threads of two or more, whole threads, both directions. A reply and its parent have a cosine of ${formatCosineDigits(effects[0]?.parentBefore ?? null)} before. Published: multiplicative, decay .5, temperature .1, beta .3. Each row with a plus changes one setting of the row over it; the last one has decay 1 and temperature 1.`,
  };
}

export function buildEnergyTable(energies: readonly ThreadEnergy[], salience: string): TitledTable {
  return {
    title: 'Energy and information of a conversation',
    head: [
      'messages',
      'conversations',
      'E least',
      '10 %',
      'median',
      '90 %',
      'greatest',
      'coherence 2E',
      'I, nats',
      'ln n',
      'greatest I − ln n',
    ],
    rows: energies.map(({ lengths, conversations, energy, coherence, information, logCount, excess }) => [
      lengths,
      count(conversations),
      ...energy.map((value) => formatDecimal(value, 3)),
      ...[coherence, information, logCount, excess].map((value) => formatDecimal(value, 3)),
    ]),
    note: `Each conversation a memory of its own; the last row, all of them one memory. Salience: ${salience}. Coherence, I and ln n are medians.`,
  };
}

export function buildFallsTable(falls: readonly InformationFalls[]): TitledTable {
  return {
    title: 'Messages that lower information',
    head: ['salience: memory', 'messages that came to others', 'of them lowered I', 'share', 'greatest fall, nats'],
    rows: falls.map(({ salience, memory, additions, falls: fell, greatest }) => [
      `${salience}: ${memory}`,
      count(additions),
      count(fell),
      `${((100 * fell) / additions).toFixed(1)} %`,
      formatDecimal(greatest, 3),
    ]),
    note: 'Messages come in the order of time and none leaves.',
  };
}

/** All tables, in the order of the findings. */
export function buildFindingTables({ settings, corpus, measured }: FindingsResult): TitledTable[] {
  return [
    buildReversalTable(measured.reversal),
    buildFarTable(measured.farMass, settings),
    buildBandTable(measured.band, corpus.messages, settings.sampledMessages),
    buildPropagationTable(measured.propagation),
    buildEnergyTable(measured.energy, measured.energySalience),
    buildFallsTable(measured.falls),
  ];
}
