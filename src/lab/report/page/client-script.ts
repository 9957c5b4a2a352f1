import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { UnavailableError } from '../../../core/errors/errors.ts';
import { readText } from '../../../core/files/files.ts';
import { freezeDeeply } from '../../../core/values/frozen.ts';

/** Where the script of each kind of page starts. */
const ENTRIES = freezeDeeply({
  run: 'run.ts',
  comparison: 'comparison.ts',
});

export type ClientPage = keyof typeof ENTRIES;

export const CLIENT_PAGES = freezeDeeply(Object.keys(ENTRIES) as ClientPage[]);

const CLIENT = fileURLToPath(new URL('../client', import.meta.url));

const scripts = new Map<ClientPage, string>();

/**
 * The script of a kind of page: its entry in `client` and all that the entry imports, as one text. From source, esbuild
 * bundles it on first use. The built package has a file for each kind of page.
 *
 * @throws UnavailableError if the built package lacks the file.
 */
export function bundleClientScript(page: ClientPage): string {
  const script = scripts.get(page) ?? (import.meta.url.endsWith('.ts') ? bundleScript(page) : readScript(page));
  scripts.set(page, script);
  return script;
}

/** Loads esbuild here because the built package does not install it. */
function bundleScript(page: ClientPage): string {
  const { buildSync } = createRequire(import.meta.url)('esbuild') as typeof import('esbuild');
  const { outputFiles } = buildSync({
    entryPoints: [ENTRIES[page]],
    absWorkingDir: CLIENT, // the comments of the bundle name files relative to it
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'silent', // an error of the build is thrown
  });
  return (outputFiles[0] as { readonly text: string }).text;
}

function readScript(page: ClientPage): string {
  const file = `${CLIENT}/${page}.js`;
  if (!existsSync(file))
    throw new UnavailableError(`script of the page of a ${page}`, `no file ${file}; run npm run build`);
  return readText(file);
}
