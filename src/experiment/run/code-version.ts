import { readdirSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readText } from '../../core/files.ts';
import { hashOf } from '../../core/hash.ts';
import { installedVersion, NUMERIC_PACKAGES } from './environment.ts';

/** Rooms whose code a stage runs through, with those that it might soon. */
export const VERSIONED_ROOMS = [
  'core',
  'model',
  'datasets',
  'text',
  'embedding',
  'candidates',
  'trajectory',
  'attention',
  'conservation',
  'graph',
  'fusion',
  'rerank',
  'retrieval',
  'evaluation',
] as const;

/** Rooms whose code an arm's record depends on besides: weight files are read where a config is. */
export const RECORD_ROOMS = ['learning', 'experiment'] as const;

/** Rooms that train: the models, and what fits and tests them. */
export const TRAINING_ROOMS = ['learning', 'training'] as const;

/** Files of the experiment that a tuning value runs through. */
const VERSIONED_FILES = ['experiment/run/rankings', 'experiment/measure/measurement'] as const;

const OWN_PATH = fileURLToPath(import.meta.url);
const SOURCE = join(dirname(OWN_PATH), '..', '..');

/** Neither tests nor what only tests use. */
function isCode(name: string): boolean {
  return /\.[jt]s$/.test(name) && !/\.(?:test|fixture|oracle|harness|cases)\.[jt]s$|\.d\.ts$/.test(name);
}

function filesOf(folder: string, room: string): string[] {
  const names = readdirSync(join(folder, room), { recursive: true, encoding: 'utf8' });
  return names.filter(isCode).map((name) => join(room, name));
}

/** Identity of the code of some rooms and of single files, whichever order they are found in. */
export function hashOfCode(folder: string, rooms: readonly string[], files: readonly string[] = []): string {
  const all = [...rooms.flatMap((room) => filesOf(folder, room)), ...files].sort();
  return hashOf(all.map((file) => [file, hashOf(readText(join(folder, file)))]));
}

/** Computes a text once. */
function once(compute: () => string): () => string {
  let known: string | undefined;
  return () => {
    known ??= compute();
    return known;
  };
}

/**
 * Version of everything that computes a stage: the files of the rooms from core to evaluation as they run (of the source or of the build), the numeric packages, and
 * the processor's architecture. Any change of that code makes all stages new; one of the report or the command line makes none.
 */
export const codeVersion = once(() =>
  hashOf([
    hashOfCode(
      SOURCE,
      VERSIONED_ROOMS,
      VERSIONED_FILES.map((name) => `${name}${extname(OWN_PATH)}`),
    ),
    NUMERIC_PACKAGES.map((name) => [name, installedVersion(name)]),
    process.arch,
  ]),
);

/** Version of everything that an arm's record comes from: the stages, and the room that tunes, ranks and writes down what they gave. */
export const recordVersion = once(() => hashOf([codeVersion(), hashOfCode(SOURCE, RECORD_ROOMS)]));

/** Version of everything that trains: a stage that holds what was learned depends on it too. */
export const learningVersion = once(() => hashOfCode(SOURCE, TRAINING_ROOMS));
