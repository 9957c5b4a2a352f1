import { expect, test } from 'vitest';
import { describeCard, findMisfit, listCards, parseCards } from './graphics-card.ts';

test('cards are read from what nvidia-smi prints, and other lines are passed over', () => {
  const output =
    'NVIDIA H100 80GB HBM3, 81559, 550.54.14, 9.0\nTesla T4, 15360, 525.125.06, 7.5\n\nNo devices, found\n';
  expect(parseCards(output)).toEqual([
    { name: 'NVIDIA H100 80GB HBM3', memoryMib: 81559, driver: '550.54.14', capability: 9 },
    { name: 'Tesla T4', memoryMib: 15360, driver: '525.125.06', capability: 7.5 },
  ]);
  expect(parseCards(output).map(describeCard)).toEqual([
    'NVIDIA H100 80GB HBM3, 81559 MiB, compute capability 9.0, driver 550.54.14',
    'Tesla T4, 15360 MiB, compute capability 7.5, driver 525.125.06',
  ]);
});

test('the cards of this machine have a name and memory', () => {
  for (const { name, memoryMib } of listCards()) expect([name.length > 0, memoryMib > 0]).toEqual([true, true]);
});

test.each([
  ['Ampere with the oldest driver of CUDA 12', 8, '525.60.13', null],
  ['Turing with a driver whose second number has three digits', 7.5, '525.125.06', null],
  ['Ada with a driver of CUDA 13', 8.9, '580.82.07', null],
  ['Ampere with a driver of CUDA 11', 8.6, '520.61.05', /^the card needs driver 525\.60 or newer; update/],
  [
    'Hopper with a driver that cannot compile PTX of CUDA 12.5',
    9,
    '550.54.14',
    /^the card needs driver 555\.42 or newer/,
  ],
  ['Hopper with a driver of CUDA 12.5', 9, '555.42.06', null],
  ['Hopper with a driver of CUDA 13', 9, '580.82.07', null],
  [
    'Blackwell',
    12,
    '580.82.07',
    /^TensorFlow is reported to fail on cards from compute capability 10\.0 on; use webgpu$/,
  ],
  ['Maxwell', 5.2, '535.10.01', /^TensorFlow has no code for cards below compute capability 6\.0; use node$/],
])('%s', (_, capability, driver, misfit) => {
  const found = findMisfit({ name: 'a card', memoryMib: 8192, capability, driver });
  if (misfit === null) expect(found).toBeNull();
  else expect(found).toMatch(misfit);
});
