import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { withTable } from '../src/cli/actions/publish.ts';
import { RagPlusPlusError, ValidationError } from '../src/core/errors/errors.ts';
import { assertNoLink, readText, writeAtomic } from '../src/core/files/files.ts';
import { BACKENDS, type BackendName } from '../src/core/tensors/active-backend.ts';
import { quoteShellWord } from '../src/core/text/format.ts';
import { formatRowsAsPipeTable } from '../src/lab/report/tables/pipe-table.ts';
import { describeCommit } from '../src/lab/run/environment.ts';
import { formatThreeDigits } from './backends.ts';
import { parseIntegerOption, parsePositiveOption } from './integer-option.ts';
import { parseNames } from './name-option.ts';
import {
  type Cost,
  type GroupReport,
  listRatios,
  measureGroup,
  ONE_THREAD,
  type PeerRow,
  readMedian,
  readSeconds,
  readWallSeconds,
} from './peers/measure.ts';
import { installPython } from './peers/venv.ts';
import { PEER_SIZES, type PeerSize } from './peers/work.ts';
import { WORK_GROUP_NAMES, WORK_GROUPS, type WorkGroupName } from './peers/works.ts';

const DEFAULT_BACKEND: BackendName = 'wasm';

export const PEERS_USAGE = `peers [options]   works beside other programs, which are installed in virtual environments: results compared value by value, then processor time, wall time and memory
    --only W,W         works, or groups of works: ${WORK_GROUP_NAMES.join(', ')} (default all)
    --size S           ${PEER_SIZES.join(', ')} (default small)
    --rounds R         in each of which all sides do every work in turn (default 3)
    --seed S           from 0 (default 7)
    --backend B        of our tensors: ${BACKENDS.join(', ')} (default wasm)
    --document FILE    also writes the table of each group into Markdown, between <!-- peers/GROUP --> (peers/GROUP/B on another backend than wasm) and <!-- end of table -->`;

/** `name` selects a work, all works NAME/CASE, or a group. */
const isSelected = (work: string, group: string, name: string) =>
  name === group || name === work || work.startsWith(`${name}/`);

/** The works of each group that are asked for. @throws ValidationError for a name that selects none. */
async function selectWorks(only: string | undefined, size: PeerSize): Promise<Map<WorkGroupName, string[]>> {
  const all: { readonly group: WorkGroupName; readonly work: string }[] = [];
  for (const group of WORK_GROUP_NAMES)
    for (const work of (await WORK_GROUPS[group]()).listWorks(size)) all.push({ group, work });
  const names = only?.split(',');
  const unknown = names?.find((name) => !all.some(({ group, work }) => isSelected(work, group, name)));
  if (unknown !== undefined)
    throw new ValidationError(`unknown --only: ${unknown}; use ${all.map(({ work }) => work).join(', ')}`);
  const selected = new Map<WorkGroupName, string[]>();
  for (const { group, work } of all)
    if (names?.some((name) => isSelected(work, group, name)) ?? true)
      selected.set(group, [...(selected.get(group) ?? []), work]);
  return selected;
}

const formatRatios = (ratios: readonly number[]) => ratios.map((ratio) => ratio.toFixed(2));
const readMegabytes = ({ peakBytes }: Cost) => peakBytes / 1e6;
const formatPair = ({ ours, theirs }: PeerRow, read: (cost: Cost) => number) =>
  [ours, theirs].map((costs) => formatThreeDigits(readMedian(costs, read)));

/** Comparisons, then ratios of ours to theirs: processor time first. */
export function formatGroupReport({ group, description, versions, rows, skipped }: GroupReport): string {
  return [
    `${group}: ${description}`,
    ...Array.from(versions, ([peer, packages]) => `peer ${peer}: ${packages}`),
    ...skipped.map(({ work, peer, reason }) => `skip ${work} ${peer}: ${reason}`),
    ...rows.map(({ work, peer, comparison: { compared, differ, note } }) =>
      differ > 0
        ? `differ ${work} ${peer}: ${differ} of ${compared} values; ${note}`
        : `same ${work} ${peer}: ${compared} values; ${note}`,
    ),
    ...rows.filter(({ ours }) => ours.length > 0).map(formatRatioLine),
  ].join('\n');
}

function formatRatioLine(row: PeerRow): string {
  const processor = formatRatios(listRatios(row, readSeconds)).join(' ');
  const wall = formatRatios(listRatios(row, readWallSeconds)).join(' ');
  const [seconds, peerSeconds] = formatPair(row, readSeconds);
  const [megabytes, peerMegabytes] = formatPair(row, readMegabytes);
  return `ratio ${row.work} ${row.peer} ${processor}; wall ${wall}; ${seconds} s beside ${peerSeconds}; ${megabytes} MB beside ${peerMegabytes}`;
}

const HEADER = ['work', 'strongest peer', 'ratio, least', 'median', 'most', 'wall, median', 's', 'peer, s'];
const MORE = ['MB', 'peer, MB', 'results', 'other peers'];

/** A row for each work, beside the peer that needs the least processor time. */
export function formatGroupTable(rows: readonly PeerRow[]): string {
  const timed = rows.filter(({ ours }) => ours.length > 0);
  const lines = [...new Set(timed.map(({ work }) => work))].map((work) => {
    const [strongest, ...others] = timed
      .filter((row) => row.work === work)
      .sort((a, b) => readMedian(a.theirs, readSeconds) - readMedian(b.theirs, readSeconds)) as [PeerRow, ...PeerRow[]];
    const shownOthers = others.map((row) => `${row.peer} ${listRatios(row, readSeconds)[1].toFixed(2)}`);
    return [
      ...[work, strongest.peer, ...formatRatios(listRatios(strongest, readSeconds))],
      ...[listRatios(strongest, readWallSeconds)[1].toFixed(2), ...formatPair(strongest, readSeconds)],
      ...[...formatPair(strongest, readMegabytes), strongest.comparison.note, shownOthers.join(', ')],
    ];
  });
  return formatRowsAsPipeTable([[...HEADER, ...MORE], ...lines]);
}

/** The table for a document, with what it depends on and what it lacks. */
export function formatGroupMarkdown(
  { description, versions, rows, skipped }: GroupReport,
  facts: { readonly command: string; readonly place: string },
): string {
  const packages = [...new Set([...versions.values()].flatMap((list) => list.split(', ')))].join(', ');
  const lacking = [...new Set(skipped.map(({ peer }) => peer))];
  const remark = lacking.length === 0 ? '' : ` Not measured: ${lacking.join(', ')}.`;
  return `\`${facts.command}\`:\n${description}; ${packages};\n${facts.place}.${remark}\n\n${formatGroupTable(rows)}`;
}

/** @throws ValidationError, before the work, for a document without a place for a table, and for a part of a group. */
async function assertDocument(
  document: string,
  backend: BackendName,
  selected: ReadonlyMap<WorkGroupName, readonly string[]>,
  size: PeerSize,
) {
  assertNoLink(document);
  for (const [group, works] of selected) {
    withTable(readText(document), namePlace(group, backend), '');
    if (works.length < (await WORK_GROUPS[group]()).listWorks(size).length)
      throw new ValidationError(`--document needs whole groups, not ${works.join(', ')}; use --only ${group}`);
  }
}

/** The name of the block of a document that has the table of a group. */
const namePlace = (group: WorkGroupName, backend: BackendName) =>
  backend === DEFAULT_BACKEND ? `peers/${group}` : `peers/${group}/${backend}`;

const describeLoad = () => `load ${loadavg()[0]?.toFixed(1)}`;

/** Prints the rows of the works, and writes their tables. @throws RagPlusPlusError for results that differ. */
export async function benchPeers(args: readonly string[]): Promise<void> {
  const { only, size, rounds, seed, backend, document } = parseOptions(args);
  const selected = await selectWorks(only, size);
  if (document !== undefined) await assertDocument(document, backend, selected, size);
  const machine = `${cpus()[0]?.model.trim() ?? 'unknown'}, ${cpus().length} cores, node ${process.version}`;
  const settings = `size ${size}, seed ${seed}, ${rounds} rounds${backend === DEFAULT_BACKEND ? '' : `, backend ${backend}`}`;
  console.log(
    `${machine}, ${describeLoad()}; ${settings}; one thread on each side: ${Object.keys(ONE_THREAD).join(', ')}`,
  );
  const commit = describeCommit(); // before a table changes the tree
  const differing: PeerRow[] = [];
  for (const [group, works] of selected) {
    const load = describeLoad();
    const report = await measureGroup(group, { size, seed, rounds, works, backend, find: installPython });
    console.log(`\n${formatGroupReport(report)}`);
    differing.push(...report.rows.filter(({ comparison }) => comparison.differ > 0));
    if (document === undefined) continue;
    const command = ['npm run -s bench -- peers', ...args.map(quoteShellWord)].join(' ');
    const place = `${settings}; ${machine}, ${load}, commit ${commit}`;
    const text = formatGroupMarkdown(report, { command, place });
    writeAtomic(document, withTable(readText(document), namePlace(group, backend), text));
  }
  if (differing.length === 0) return;
  const list = differing.map(({ work, peer }) => `${work} of ${peer}`).join(', ');
  throw new RagPlusPlusError(
    'RESULTS_DIFFER',
    `results differ: ${list}; read the lines above, and find the wrong side`,
  );
}

function parseOptions(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      size: { type: 'string', default: 'small' },
      rounds: { type: 'string', default: '3' },
      seed: { type: 'string', default: '7' },
      backend: { type: 'string', default: DEFAULT_BACKEND },
      document: { type: 'string' },
    },
  });
  const size = PEER_SIZES.find((name) => name === values.size);
  if (size === undefined)
    throw new ValidationError(`unknown --size: ${values.size}; use one of ${PEER_SIZES.join(', ')}`);
  const [backend] = parseNames('backend', values.backend, BACKENDS) as [BackendName];
  return {
    only: values.only,
    size,
    rounds: parsePositiveOption('rounds', values.rounds),
    seed: parseIntegerOption('seed', values.seed, 0),
    backend,
    document: values.document,
  };
}
