import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from './core/tensors/backend.ts';
import { TEST_BACKENDS } from './core/tensors/backends.harness.ts';
import type { Edge, Scenario, TensorOp, TensorOps } from './core/tensors/tensor-op.harness.ts';
import { DOORS, importDoor, SOURCE as source } from './entry-points.harness.ts';

const read = (file: string) => readFileSync(join(source, file), 'utf8');

/** What a file imports, also on first use, or passes on at run time: not what is a type. */
function listValueImports(file: string): string[] {
  const text = read(file).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const statements = [...text.matchAll(/^(?:import|export) (?!type )([^;]*?) from '([^']+)'/gm)];
  const fixed = statements.flatMap(([, names, specifier]) => {
    const list = /^\{([^}]*)\}$/.exec(names as string)?.[1]?.split(',');
    const isTypes = list?.every((name) => /^\s*(type .*)?$/s.test(name)) ?? false;
    return isTypes ? [] : [specifier as string];
  });
  return [...fixed, ...[...text.matchAll(/\bimport\('([^']+)'\)/g)].map(([, specifier]) => specifier as string)];
}

const reaching = new Map<string, boolean>();

/** True if running a file can touch a tensor. */
function reachesTensors(file: string): boolean {
  const known = reaching.get(file);
  if (known !== undefined) return known;
  reaching.set(file, false);
  const answer = listValueImports(file).some(
    (found) =>
      found === '@tensorflow/tfjs-core' ||
      (found.startsWith('.') && reachesTensors(normalize(join(dirname(file), found)))),
  );
  reaching.set(file, answer);
  return answer;
}

/** Functions and classes that an entry point exports from files which reach tensors. */
async function listPublicOps(door: string, file: string): Promise<string[]> {
  const exported = await importDoor(door);
  return [...read(file).matchAll(/^export \{([^}]*)\} from '([^']+)'/gm)].flatMap(([, list, from]) => {
    if (!from?.startsWith('.') || !reachesTensors(normalize(join(dirname(file), from)))) return [];
    const names = (list as string).split(',').map((name) => name.trim());
    return names.filter((name) => typeof exported[name] === 'function');
  });
}

const publicOps: string[] = [];
for (const [door, file] of DOORS) publicOps.push(...(await listPublicOps(door, file)));

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const registries = new Map<string, TensorOps>();
for (const file of files.filter((file) => file.endsWith('tensor-ops.cases.ts')).sort())
  registries.set(dirname(file), ((await import(join(source, file))) as { TENSOR_OPS: TensorOps }).TENSOR_OPS);

const cases = [...registries].flatMap(([folder, registry]) =>
  Object.entries(registry).flatMap(([name, op]) => ('provedIn' in op ? [] : [[`${folder}, ${name}`, op] as const])),
);

function collectTensors(result: unknown): tf.Tensor[] {
  if (result instanceof tf.Tensor) return [result];
  if (result === null || typeof result !== 'object' || ArrayBuffer.isView(result)) return [];
  return Object.values(result).flatMap(collectTensors);
}

async function readAllNumbers(result: unknown): Promise<number[]> {
  if (typeof result === 'number') return [result];
  if (result instanceof tf.Tensor) return [...(await result.data())];
  if (ArrayBuffer.isView(result)) return [...(result as Float32Array)];
  if (result === null || typeof result !== 'object') return [];
  const parts: number[] = [];
  for (const part of Object.values(result)) parts.push(...(await readAllNumbers(part)));
  return parts;
}

/** Runs a scenario, hands what it made to `use`, and asserts that nothing is left of it, whether it throws or not. */
async function run(scenario: Scenario, use: (result: unknown) => Promise<void> = async () => {}): Promise<void> {
  const before = tf.memory().numTensors;
  const owned: { dispose(): void }[] = [];
  let made = 0;
  try {
    const result = await scenario((borrowed) => {
      owned.push(borrowed);
      return borrowed;
    });
    made = collectTensors(result).length;
    expect(tf.memory().numTensors - before).toBe(owned.length + made);
    await use(result);
    tf.dispose(collectTensors(result));
  } finally {
    for (const borrowed of owned) borrowed.dispose();
    expect(tf.memory().numTensors, 'tensors after all is disposed').toBe(before);
  }
}

/**
 * Steps of a scenario at which its device fails, all of them or a limited number: fewer on WebGPU, where a step compiles a shader, and whose tensors are counted by the
 * same engine.
 */
const countMostFaults = (backend: string) => (backend === 'webgpu' ? 3 : 23);

/** Runs some work while the device counts its operations and what is read back from it, and fails at the one of that number. */
async function runFailingAt(step: number, work: () => Promise<void>): Promise<number> {
  const engine = tf.engine();
  const runKernel = engine.runKernel.bind(engine);
  const read = engine.read.bind(engine);
  let count = 0;
  const take = () => {
    if (++count === step) throw new Error(`device failed at step ${step}`);
  };
  const counting: Pick<typeof engine, 'runKernel' | 'read'> = {
    runKernel: (...parameters) => {
      take();
      return runKernel(...parameters);
    },
    read: (...parameters) => {
      take();
      return read(...parameters);
    },
  };
  Object.assign(engine, counting);
  try {
    await work();
  } finally {
    for (const name of Object.keys(counting)) Reflect.deleteProperty(engine, name); // back to those of its class
  }
  return count;
}

test('every public op that reaches a tensor has its cases', () => {
  const registered = [...registries.values()].flatMap((registry) => Object.keys(registry));
  expect(publicOps.filter((name) => !registered.includes(name))).toEqual([]);
  expect(publicOps.length).toBeGreaterThan(30);
});

test('every case is of a function that the project has', () => {
  const code = files
    .filter((file) => !/\.(?:test|cases|fixture|harness|oracle)\.ts$/.test(file))
    .map(read)
    .join('\n');
  const exported = new Set(
    [...code.matchAll(/^export (?:async )?(?:function|class|const) (\w+)/gm)].map(([, name]) => name),
  );
  const named = [...registries.values()].flatMap((registry) => Object.keys(registry));
  expect(named.filter((name) => !exported.has(name))).toEqual([]);
  expect(new Set(named).size).toBe(named.length);
});

test('what is proved elsewhere is', () => {
  const elsewhere = [...registries.values()].flatMap((registry) =>
    Object.entries(registry).flatMap(([name, op]) => ('provedIn' in op ? [[name, op.provedIn] as const] : [])),
  );
  expect(elsewhere.length).toBeLessThan(10);
  for (const [name, file] of elsewhere) {
    const text = read(join('..', file));
    expect(text, file).toContain(name);
    expect(text.match(/expect\(tf\.memory\(\)\.numTensors\)/g)?.length, file).toBeGreaterThan(0);
    expect(text, file).toMatch(/rejects\.toThrow|toThrow/);
  }
});

test('every kind of odd input is met by several ops', () => {
  const met = cases.flatMap(([, { edges }]) => Object.keys(edges ?? {})) as Edge[];
  for (const edge of ['zero vectors', 'duplicates', 'one turn', 'all masked', 'K > C'] as const)
    expect(met.filter((other) => other === edge).length, edge).toBeGreaterThan(2);
});

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  describe.each(cases)('%s', (_, op: TensorOp) => {
    test('leaves nothing behind, and makes numbers alone', async () => {
      await run(op.use, async (result) => {
        const numbers = await readAllNumbers(result);
        expect(numbers.length).toBeGreaterThan(0);
        expect(numbers.filter((value) => !Number.isFinite(value))).toEqual([]);
      });
    });

    test('leaves nothing behind wherever its device fails', async () => {
      const steps = await runFailingAt(Number.POSITIVE_INFINITY, () => run(op.use));
      const stride = Math.max(1, Math.ceil(steps / countMostFaults(backend)));
      for (let step = 1; step <= steps; step += stride) {
        const failing = runFailingAt(step, () => run(op.use));
        if (op.catches === true) await failing;
        else await expect(failing, `step ${step} of ${steps}`).rejects.toThrow(`device failed at step ${step}`);
      }
    });

    test.each(op.refuses)('leaves nothing behind of what it refuses, %#', async (scenario, message) => {
      await expect(run(scenario)).rejects.toThrow(message);
    });

    test.each(Object.entries(op.edges ?? {}))('%s give defined numbers', async (_, [scenario, expected]) => {
      await run(scenario, async (result) => {
        const numbers = await readAllNumbers(result);
        expect(numbers).toHaveLength(expected.length);
        for (const [i, value] of expected.entries()) {
          const error = Math.abs((numbers[i] as number) - value);
          expect(error, `number ${i}: ${numbers[i]} for ${value}`).toBeLessThanOrEqual(1e-5 + 1e-4 * Math.abs(value));
        }
      });
    });
  });
});
