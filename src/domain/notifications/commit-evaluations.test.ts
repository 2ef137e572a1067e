import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aDevice, aSensor, noon } from '../../../test/contract/storage/builders.ts';
import { aNotification } from '../../../test/contract/storage/notifications.contract.ts';
import type { NewPush } from '../datapoints/appender.ts';
import { toColumnBatch } from '../datapoints/column-batch.ts';
import type { NewEvaluation } from '../datapoints/datapoint-store.ts';
import type { DeviceId } from '../ids.ts';
import { createCommitEvaluations } from './commit-evaluations.ts';
import type { Remembered, RulesOfDevice } from './notification-store.ts';
import { createRule, type Rule } from './rule.ts';

const sensors = ['t', 'u', 'plain'];
const devices = new Map(
  ['d', 'e'].map((id) => [id, aDevice(id, { sensors: sensors.map((one) => aSensor(one)) })]),
);
const ruleOf = (name: string, expression: string): Rule =>
  createRule(aNotification(name, { condition: { devices: [], sensors: [], expression } }));
const rules: Readonly<Record<string, readonly Rule[]>> = {
  t: [ruleOf('lasting', 't > 30 for 1m')],
  u: [ruleOf('plain', 'u > 30')],
};

const pushTo = (device: string, sensor: string, value: number, isAhead = true): NewPush => {
  const found = devices.get(device);
  assert.ok(found);
  const batch = toColumnBatch([{ value, receivedAt: noon }]);
  const push = { deviceId: found.id, sensorId: aSensor(sensor).id, batch };
  return { push, outcome: { isLater: true, isAhead } };
};

/** What is filed of these pushes, and what was asked for it. */
async function filedOf(pushes: readonly NewPush[], isWaiting = false) {
  const asked: RulesOfDevice[] = [];
  const evaluations = createCommitEvaluations({
    peekDevice: (id) => devices.get(id),
    book: {
      index: {
        concerns: (_: DeviceId, id: string) => rules[id] !== undefined,
        rulesOn: (_: DeviceId, id: string) => rules[id] ?? [],
      },
    } as unknown as Parameters<typeof createCommitEvaluations>[0]['book'],
    newEvaluation: (deviceId): NewEvaluation => ({ id: `of ${deviceId}`, member: 1, deviceId }),
    looks: {
      async remembered(_, questions) {
        asked.push(...questions);
        return questions.map(
          ({ ids }): Remembered => ({
            isWaiting,
            states: new Map(ids.map((id) => [id, { state: {}, lastFiredAt: undefined }])),
          }),
        );
      },
    },
  });
  const found = await evaluations.evaluationsOf(pushes, { areOthers: true });
  const outcomes = pushes.map(({ push: { batch } }) => {
    const noted: string[] = [];
    evaluations.noteOutcomes(batch, { note: (_, { outcome }) => void noted.push(outcome) });
    return noted.join(' ');
  });
  return {
    filed: pushes.map((_, at) => found[at] !== undefined),
    asked: asked.map(({ deviceId, ids }) => [deviceId, ids.length]),
    outcomes,
  };
}

test('a push that no rule concerns asks for nothing', async () => {
  const { filed, asked } = await filedOf([pushTo('d', 'plain', 1)]);
  assert.deepEqual([filed, asked], [[false], []]);
});

test('a rule that remembers is asked for, and files nothing where nothing changes', async () => {
  const pushes = [pushTo('d', 't', 20), pushTo('d', 'u', 20), pushTo('e', 't', 10)];
  const { filed, asked, outcomes } = await filedOf(pushes);
  assert.deepEqual(filed, [false, false, false]);
  assert.deepEqual(outcomes, ['false', 'false', 'false']);
  assert.deepEqual(asked, [
    ['d', 1],
    ['e', 1],
  ]);
});

test('what is filed on a device, in this commit or before, keeps pushes behind it', async () => {
  const pushes = [pushTo('d', 't', 40), pushTo('d', 't', 20), pushTo('e', 't', 20)];
  assert.deepEqual((await filedOf(pushes)).filed, [true, true, false]);
  assert.deepEqual((await filedOf([pushTo('d', 'u', 40), pushTo('d', 't', 20)])).filed, [
    true,
    true,
  ]);
  const { filed, outcomes } = await filedOf([pushTo('d', 't', 20), pushTo('d', 'u', 20)], true);
  assert.deepEqual(
    [filed, outcomes],
    [
      [true, false],
      ['', 'false'],
    ],
  );
});

test('a push that is older than what its sensor had is evaluated in its turn', async () => {
  const { filed, asked } = await filedOf([pushTo('d', 't', 20, false)]);
  assert.deepEqual([filed, asked], [[true], []]);
});
