import type { z } from 'zod';
import { UnavailableError } from '../../core/errors/errors.ts';
import { hasActiveBackend } from '../../core/tensors/active-backend.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { type Lazy, type NamingOptions, OptionsRegistry } from '../../core/validation/registry.ts';
import { parse } from '../../core/validation/validation.ts';
import type { Encoder } from '../../model/encoder.ts';
import type { EncoderSource } from './embedding-cache.ts';
import type {
  CreateEncoder,
  EncoderDefinition,
  EncoderFiles,
  EncoderInputs,
  IdentifyEncoder,
  VectorInput,
} from './encoder-definition.ts';
import { bert, lsa, openAiCompatible, precomputed, transformers, useLite } from './encoder-options.ts';

/** The files that an encoder reads; null for an encoder without. */
export function findEncoderFiles({ encoder }: Pick<EncoderOptions, 'encoder'>): EncoderFiles<EncoderOptions> | null {
  return (ENCODERS.get(encoder).files as EncoderFiles<EncoderOptions> | undefined) ?? null;
}

/** The inputs of an encoder besides its options. */
export interface EncoderContext extends EncoderInputs {
  readonly progress?: StartProgress;
}

/** Returns what a vector of the encoder depends on besides the identity. */
export function findVectorInput(options: EncoderOptions): VectorInput {
  const { dependsOn } = ENCODERS.get(options.encoder);
  return dependsOn === undefined ? 'text' : (dependsOn as (given: EncoderOptions) => VectorInput)(options);
}

/** True if an encoder is fitted on the texts and needs nothing else. */
export function isFittedEncoder({ encoder }: Pick<EncoderOptions, 'encoder'>): boolean {
  return ENCODERS.get(encoder).isFitted ?? false;
}

function weighsTokens(options: EncoderOptions): boolean {
  const { weighsTokens: find } = ENCODERS.get(options.encoder);
  return (find as ((given: EncoderOptions) => boolean) | undefined)?.(options) ?? false;
}

const SEED = 1;

function member<S extends NamingOptions<'encoder'>>(
  definition: EncoderDefinition<S>,
  load: () => Promise<CreateEncoder<z.output<S>>>,
): Lazy<EncoderDefinition<S>, CreateEncoder<z.output<S>>> {
  return { ...definition, load };
}

/** Every encoder: to add one takes its file and a line here. */
export const ENCODERS = new OptionsRegistry('encoder', [
  member(lsa, async () => (await import('./lsa.ts')).createLsa),
  member(useLite, async () => (await import('./use-lite.ts')).loadUseLite),
  member(bert, async () => (await import('./bert.ts')).createBert),
  member(precomputed, async () => (await import('./precomputed.ts')).loadPrecomputed),
  member(transformers, async () => (await import('./transformers.ts')).createTransformers),
  member(openAiCompatible, async () => (await import('./openai-compatible.ts')).createOpenAiCompatible),
]);

/** The options of every encoder, distinguished by `encoder`; unknown keys are refused. */
export const encoderOptions = ENCODERS.options;
/** The options of one encoder, chosen by `encoder`, with every default written out. */
export type EncoderOptions = z.output<typeof encoderOptions>;
/** The options as written: those with a default may be left out. */
export type EncoderInput = z.input<typeof encoderOptions>;

/**
 * The folder of the file that wrote an encoder's options. It is stored beside the options, not in them: only the
 * message about a missing file needs it.
 */
const folders = new WeakMap<object, string>();

/**
 * Notes the folder in which the files of an encoder were searched before the working directory; null for the working
 * directory alone.
 */
export function setEncoderFolder(options: object, folder: string | null): void {
  if (folder === null) folders.delete(options);
  else folders.set(options, folder);
}

/**
 * @throws UnavailableError for a file of a config that does not exist, naming both places.
 * @param written the options as the config has them.
 */
function assertFilesFound(written: object, options: EncoderOptions): void {
  const files = findEncoderFiles(options);
  const key = files?.findMissing(options) ?? null;
  const folder = folders.get(written);
  if (key === null || folder === undefined) return;
  const path = options[key];
  const remedy = files?.describeRemedy?.(options) ?? `set embedding.${key}`;
  throw new UnavailableError(
    `${key} of the embedding`,
    `no file or folder at ${path}, neither in ${folder} nor in the working directory; ${remedy}`,
  );
}

/**
 * The encoder that the options name, not yet made: for the cache, which may not need it. Without an active
 * backend, `create` chooses one; before that, the identity of an encoder that computes here is not known.
 *
 * @throws ConfigurationError for an unknown encoder and for unknown options; UnavailableError for a file of a config that does not exist.
 */
export function createEncoderSource(written: EncoderInput, inputs: EncoderInputs): EncoderSource {
  const options = parse(encoderOptions, written, 'the options of an encoder');
  const { identity, load } = ENCODERS.get(options.encoder);
  assertFilesFound(written, options);
  const identify = () => (identity as IdentifyEncoder<EncoderOptions>)(options, inputs);
  let identified: EncoderSource['identity'] | undefined;
  return {
    name: options.encoder,
    get identity() {
      identified ??= identify();
      return identified;
    },
    dependsOn: findVectorInput(options),
    weighsTokens: weighsTokens(options),
    create: async (progress = ignoreProgress) => {
      if (!hasActiveBackend()) await (await import('../../core/tensors/backend.ts')).ensureBackend();
      return ((await load()) as CreateEncoder<EncoderOptions>)(options, inputs, progress);
    },
  };
}

/**
 * Makes the encoder that the options name, on the active backend. Without one, takes the first backend that loads.
 *
 * @param context the texts that it is fitted on, which `lsa` needs, and its seed, by default 1.
 * @throws ConfigurationError as {@link createEncoderSource} does; UnavailableError if no backend loads.
 */
export async function createEncoder(options: EncoderInput, context: Partial<EncoderContext> = {}): Promise<Encoder> {
  const { progress = ignoreProgress, ...inputs } = context;
  return createEncoderSource(options, { fitTexts: [], seed: SEED, ...inputs }).create(progress);
}
