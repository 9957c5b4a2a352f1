import { expect, test } from 'vitest';
import { drawSampleWorld } from './corpus.fixture.ts';
import { computeMissing, PartResults, Resources } from './stage.ts';

/** A resource that notes its disposal. */
const make = (name: string, freed: string[]) => ({ name, dispose: () => void freed.push(name) });

test('a result is made once, and disposed with the resources', async () => {
  const [resources, freed] = [new Resources(), [] as string[]];
  const [a, b] = await Promise.all(['a', 'b'].map((name) => resources.keepOnce('key', () => make(name, freed))));
  expect([a?.name, b]).toEqual(['a', a]);
  expect(await resources.keepOnce('number', () => 7)).toBe(7);
  resources.dispose();
  resources.dispose();
  expect(freed).toEqual(['a']);
  await expect(resources.keepOnce('key', () => 1)).rejects.toThrow('workspace was disposed: "key"');
});

test('what is behind grows, or is made again where it cannot, and what it was is disposed', async () => {
  const [resources, freed] = [new Resources(), [] as string[]];
  for (const key of ['grows', 'stays', 'asked for again', 'not asked for'])
    await resources.keepOnce(key, () => make(key, freed));
  resources.fallBehind();
  const grown = await resources.keepOnce(
    'grows',
    () => make('never', freed),
    (earlier) => ({ ...earlier, name: `${earlier.name} more` }),
  );
  expect(grown.name).toBe('grows more');
  const other = await resources.keepOnce(
    'stays',
    () => make('stays, new', freed),
    () => null,
  );
  expect([other.name, freed]).toEqual(['stays, new', ['stays']]);
  await resources.keepOnce('asked for again', () => make('again', freed));
  expect(freed).toEqual(['stays', 'asked for again']);
  resources.dispose();
  expect(freed.slice(2).sort()).toEqual(['again', 'grows', 'not asked for', 'stays, new']);
});

test('what fails to grow is disposed, fails for everyone, and is made again after the next change', async () => {
  const [resources, freed] = [new Resources(), [] as string[]];
  await resources.keepOnce('key', () => make('first', freed));
  resources.fallBehind();
  const fail = () => Promise.reject(new Error('no room'));
  await expect(resources.keepOnce('key', () => make('second', freed), fail)).rejects.toThrow('no room');
  await expect(resources.keepOnce('key', () => make('second', freed))).rejects.toThrow('no room');
  expect(freed).toEqual(['first']);
  resources.fallBehind();
  expect((await resources.keepOnce('key', () => make('third', freed), fail)).name).toBe('third');
});

test('what is made while the resources are disposed is disposed too', async () => {
  const [resources, freed] = [new Resources(), [] as string[]];
  const late = resources.keepOnce('key', () => {
    resources.dispose();
    return make('late', freed);
  });
  await expect(late).rejects.toThrow('workspace was disposed');
  expect(freed).toEqual(['late']);
});

test('what is computed of a turn by itself is computed once for each key, also among other turns', async () => {
  const [results, asked] = [new PartResults(), [] as string[]];
  const [a, b, c] = drawSampleWorld(3, 17).turns;
  const measure = (turns: readonly { readonly id: string; readonly text: string }[]) => {
    asked.push(...turns.map(({ id }) => id));
    return turns.map(({ text }) => text.length);
  };
  const lengths = [a, b, c].map((turn) => turn!.text.length);
  const kept = results.of<number>('length');
  expect(await computeMissing(kept, [a!, b!], measure)).toEqual(lengths.slice(0, 2));
  expect(await computeMissing(kept, [c!, a!, b!], measure)).toEqual([lengths[2], lengths[0], lengths[1]]);
  expect(asked).toEqual([a!.id, b!.id, c!.id]);
  await computeMissing(results.of<number>('length'), [{ ...a! }], measure); // another object may have another text
  await computeMissing(results.of<number>('other'), [a!], measure);
  expect(asked.slice(3)).toEqual([a!.id, a!.id]);
});
