import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { downloadFile } from '../../../core/service/download.ts';
import { assertHeaderText } from '../../../core/service/sendable-text.ts';
import type { StartProgress } from '../../../core/terminal/progress.ts';
import { joinWeightsPath, locateModel, MAIN_FILE, type ModelChoice } from './model-files.ts';
import { findPoolingFile, SETTINGS_FILES } from './model-settings.ts';

/** The hub, as Python's huggingface_hub lets it be set. */
const HUB = 'https://huggingface.co';

/** Bytes of a file of a model: more than an encoder for one machine has. */
const LARGEST_FILE = 2 ** 36;

/**
 * Downloads a model of the hub to its folder, unless it is there. The address of the hub may be set by HF_ENDPOINT, and
 * an access token by HF_TOKEN, which is sent and never printed.
 *
 * @returns the folder
 * @throws UnavailableError for an answer other than the file, and for no answer.
 */
export async function downloadModel(choice: ModelChoice, progress: StartProgress): Promise<string> {
  const folder = locateModel(choice);
  const weights = joinWeightsPath(choice.dtype);
  if (existsSync(join(folder, MAIN_FILE)) && existsSync(join(folder, weights))) return folder;
  const stage = progress(`download ${choice.model}`, 1);
  const fetchFile = (name: string, isNeeded: boolean) => fetchTo(folder, choice, name, isNeeded);
  for (const name of SETTINGS_FILES) if (name !== MAIN_FILE) await fetchFile(name, false);
  const pooling = findPoolingFile(folder);
  if (pooling !== null) await fetchFile(pooling, true);
  await fetchFile('tokenizer.json', true);
  await fetchFile(weights, true);
  await fetchFile(`${weights}_data`, false);
  await fetchFile(MAIN_FILE, true);
  stage.finish(folder);
  return folder;
}

const readHub = () => (process.env.HF_ENDPOINT ?? HUB).replace(/\/$/, '');

/**
 * The access token of HF_TOKEN, for addresses of the hub alone.
 *
 * @throws ValidationError for a token that no header can hold.
 */
export function listHubHeaders(url: string): Readonly<Record<string, string>> {
  const token = process.env.HF_TOKEN?.trim();
  if (!token || new URL(url).origin !== new URL(readHub()).origin) return {};
  return { authorization: `Bearer ${assertHeaderText(token, 'HF_TOKEN')}` };
}

/** @param isNeeded whether the lack of the file is an error */
async function fetchTo(folder: string, choice: ModelChoice, name: string, isNeeded: boolean): Promise<void> {
  const url = `${readHub()}/${choice.model}/resolve/${encodeURIComponent(choice.revision)}/${name}`;
  await downloadFile(url, join(folder, name), {
    user: `model ${choice.model}`,
    remedy: 'check the name, the revision and the network, or copy the model to a folder',
    mostBytes: LARGEST_FILE,
    headers: listHubHeaders(url),
    isNeeded,
  });
}
