import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { assertNoLink, readBytes, readFolder, readText, writeAtomic } from '../../core/files/files.ts';
import { printOut } from '../../core/terminal/progress.ts';
import { parse } from '../../core/validation/validation.ts';
import { slug } from '../../lab/config/config-schema.ts';
import { publishLooks, TEST_FILE } from '../../lab/measure/test-looks.ts';

/** The small files of a run to keep in the repository, besides the weights of a training. */
const PUBLISHED = ['config.yaml', 'environment.json', 'metrics.json', 'table.md'] as const;
/** Further files of a training whose weights were measured on the test split. */
const TESTED = [TEST_FILE, 'test.md'];
const TABLE = /(?:table|test)\.md$/;
/** Files that are published if the run has them: weights, tables for papers and spreadsheets, and the figures by stratum. */
const BESIDES = /\.(?:safetensors|tex|csv)$|^(?:strata|users)\.json$/;

const END_OF_TABLE = '<!-- end of table -->';

/**
 * The document with the block of a table replaced.
 *
 * @param table `results/<experiment>/table.md`, or another name that the line before the block has.
 * @throws ValidationError when the document has no such block.
 */
export function withTable(document: string, table: string, text: string): string {
  const [start, end] = [`<!-- ${table} -->`, END_OF_TABLE];
  const from = document.indexOf(start);
  const to = document.indexOf(end, from);
  if (from < 0 || to < 0)
    throw new ValidationError(`document has no block for table ${table}; add the lines ${start} and ${end}`, { table });
  return `${document.slice(0, from)}${start}\n\n${text.trim()}\n\n${document.slice(to)}`;
}

/** @throws ValidationError for a file that is not one of a run. */
function readExperimentName(path: string): string {
  const text = readText(path);
  try {
    return parse(z.object({ experiment: slug }), JSON.parse(text), path).experiment;
  } catch (error) {
    throw new ValidationError(
      `file has no experiment name of lower-case letters, digits and hyphens: ${path}; publish the folder of a run`,
      { path },
      { cause: error },
    );
  }
}

/** The bytes of files of a run. A link is an error: it would lead out of the run. */
function readPublishedFiles(runFolder: string, names: readonly string[]): ReadonlyMap<string, Uint8Array> {
  return new Map(
    names.map((name) => {
      const path = join(runFolder, name);
      assertNoLink(path);
      return [name, readBytes(path)];
    }),
  );
}

/** @throws ValidationError if figures of a test split would remain beside other weights. */
function assertNoneStale(folder: string, there: readonly string[]): void {
  const stale = TESTED.map((name) => join(folder, name)).find(
    (path) => existsSync(path) && !there.includes(basename(path)),
  );
  if (stale !== undefined)
    throw new ValidationError(
      `figures of other weights on the test split: ${stale}; delete them, or run ragpp test-weights first`,
      { stale },
    );
}

export function publish(runFolder: string, options: { document: string; results: string }): void {
  const there = readFolder(runFolder);
  const optional = there.filter((name) => TESTED.includes(name) || BESIDES.test(name));
  const files = readPublishedFiles(runFolder, [...PUBLISHED, ...optional]);
  const experiment = readExperimentName(join(runFolder, 'metrics.json'));
  const folder = join(options.results, experiment);
  assertNoneStale(folder, there);
  for (const name of files.keys()) assertNoLink(join(folder, name), options.results);
  assertNoLink(options.document);
  const document = [...files]
    .filter(([name]) => TABLE.test(name))
    .reduce(
      (text, [name, table]) => withTable(text, join('results', experiment, name), Buffer.from(table).toString('utf8')),
      readText(options.document),
    );
  for (const [name, bytes] of files) writeAtomic(join(folder, name), bytes);
  publishLooks(runFolder, options.results);
  writeAtomic(options.document, document);
  printOut(`published ${folder} and its tables in ${options.document}\n`);
}
