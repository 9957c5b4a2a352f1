import { expect, test } from 'vitest';
import type { Dataset } from '../../model/dataset.ts';
import type { ArmOptions } from '../config/config.ts';
import { assertArmAttributes } from './needed-attributes.ts';

const describeDataset = (attributes?: object) =>
  ({ name: 'chats', corpus: { turns: [{ id: 'a' }, { id: 'b', attributes }] } }) as unknown as Dataset;
const describeArm = (name: string, more: object) =>
  ({ name, boosts: null, scoring: null, ...more }) as unknown as ArmOptions;

const boosted = describeArm('boosted', { boosts: [{ attribute: 'outcome', factor: 1 }] });
const mixed = describeArm('mixed', { scoring: { weights: { importance: 0.5, outcome: 0 } } });

test('an arm that reads attributes of some turn is accepted, and one that reads none', () => {
  const dataset = describeDataset({ outcome: 1, importance: 0.5 });
  expect(() => assertArmAttributes(dataset, [boosted, mixed])).not.toThrow();
  expect(() => assertArmAttributes(describeDataset(), [describeArm('plain', {})])).not.toThrow();
});

test('each arm without its attribute is named', () => {
  expect(() => assertArmAttributes(describeDataset(), [boosted, mixed])).toThrow(
    'dataset chats has no attribute for boost of outcome of arm boosted; scoring signal importance of arm mixed: no turn has an attribute; ' +
      'remove it from boosts; remove its weight from scoring.weights, or add the attribute to the turns',
  );
  expect(() => assertArmAttributes(describeDataset({ phase: 'late', outcome: 1 }), [boosted, mixed])).toThrow(
    'scoring signal importance of arm mixed: turns have outcome, phase; ',
  );
});
