import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { UnavailableError, ValidationError } from '../errors/errors.ts';
import { BACKEND_PACKAGES, type InstallableBackend } from '../tensors/active-backend.ts';
import { probeBackends } from '../tensors/backend.ts';
import { ignoreProgress } from '../terminal/progress.ts';
import { isProgramFound } from './external-program.ts';
import { installBackend } from './install-backend.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-install-'));
const backends = join(root, 'backends');

/** A registry that has nothing, or that does not answer. */
let answers = true;
let asked = 0;
const server = createServer((_, response) => {
  asked++;
  if (answers) response.writeHead(404).end();
});
const readAddress = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
beforeEach(() => {
  [answers, asked] = [true, 0];
  vi.stubEnv('RAGPP_CACHE', root);
  vi.stubEnv('npm_config_registry', readAddress());
  vi.stubEnv('npm_config_fetch_retries', '0');
  vi.stubEnv('PIP_INDEX_URL', readAddress());
  vi.stubEnv('PIP_RETRIES', '0');
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(backends, { recursive: true, force: true });
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(root, { recursive: true });
});

const install = (name: InstallableBackend, signal = new AbortController().signal) =>
  installBackend(name, { libraries: false, progress: ignoreProgress, signal, prove: async () => {} });

/** A PATH on which only these programs are. */
function stubPath(...names: readonly string[]): void {
  const folder = mkdtempSync(join(root, 'path-'));
  for (const name of names) symlinkSync(join(findFolder(name), name), join(folder, name));
  vi.stubEnv('PATH', folder);
}

const pathBefore = process.env.PATH as string;
const findFolder = (name: string) =>
  pathBefore.split(delimiter).find((folder) => existsSync(join(folder, name))) as string;

const isAbsent = (name: InstallableBackend) => !probeBackends().find((probe) => probe.name === name)?.available;
const canBuild =
  ['python3', 'make', 'c++'].every(isProgramFound) && process.platform === 'linux' && process.arch === 'x64';

test.runIf(canBuild && isAbsent('node'))('without python3 nothing is downloaded, and the error names it', async () => {
  stubPath('npm', 'make');
  await expect(install('node')).rejects.toThrow(UnavailableError);
  await expect(install('node')).rejects.toThrow(
    'backend node is not available: not in PATH: python3, c++; apt-get install python3 build-essential',
  );
  stubPath('python3');
  await expect(install('node')).rejects.toThrow('npm is not in PATH; install npm, which comes with Node');
  expect([readdirSync(backends), asked]).toEqual([[], 0]);
});

test.runIf(canBuild && isAbsent('node'))(
  'a wheel that the index does not have is an error with what pip reports',
  async () => {
    await expect(install('node')).rejects.toThrow(
      /^backend node is not available: python3 could not download tensorflow-cpu==2\.21\.0: ERROR: .*; check the network and the index of pip \(/,
    );
    expect(asked).toBeGreaterThan(0);
    expect(readdirSync(join(backends, 'node.partial'))).toEqual(['wheels']);
  },
);

test.runIf(isAbsent('webgpu'))(
  'a package that the registry does not have is an error with what npm reports, and nothing stays',
  async () => {
    await expect(install('webgpu')).rejects.toThrow(
      /^backend webgpu is not available: npm could not download webgpu@0\.6\.2 @tensorflow\/tfjs-backend-webgpu@4\.22\.0: npm error .*404.*; check the network and the registry of npm \(/,
    );
    expect(readdirSync(backends)).toEqual([]);
  },
);

test.runIf(isAbsent('webgpu'))('an interruption ends npm and leaves nothing', async () => {
  answers = false;
  const controller = new AbortController();
  const failing = install('webgpu', controller.signal);
  await expect.poll(() => asked, { timeout: 30_000 }).toBeGreaterThan(0);
  controller.abort();
  await expect(failing).rejects.toThrow('npm was interrupted');
  expect(readdirSync(backends)).toEqual([]);
});

test('a backend that is there is not made again', async () => {
  for (const name of BACKEND_PACKAGES.webgpu) writePackage(join(backends, 'webgpu'), name);
  await expect(install('webgpu')).rejects.toThrow(ValidationError);
  await expect(install('webgpu')).rejects.toThrow(
    /^backend webgpu is installed: .*; to make it again, run ragpp backend remove webgpu/,
  );
});

function writePackage(folder: string, name: string): void {
  const place = join(folder, 'node_modules', name);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), JSON.stringify({ name, version: '4.22.0' }));
}
