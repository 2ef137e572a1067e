import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aDevice, aSensor, noon } from '../../../test/contract/storage/builders.ts';
import { aNotification } from '../../../test/contract/storage/notifications.contract.ts';
import type { NewPush } from '../datapoints/appender.ts';
import { toColumnBatch } from '../datapoints/column-batch.ts';
import type { NewEvaluation } from '../datapoints/datapoint-store.ts';
import type { DeviceId } from '../ids.ts';
import { createCommitEvaluations } from './commit-evaluations.ts';
import { evaluationLimits } from './evaluation-limits.ts';
import type { Remembered, RulesOfDevice } from './notification-store.ts';
import { createRule, type Rule } from './rule.ts';

const sensors = ['t', 'u', 'plain'];
const notificationOf = (name: string, expression: string) =>
  aNotification(name, { condition: { devices: [], sensors: [], expression } });
const { owner } = notificationOf('n', 't > 1');
const devices = new Map(
  ['d', 'e'].map((id) => [id, aDevice(id, { owner, sensors: sensors.map((one) => aSensor(one)) })]),
);
const ruleOf = (name: string, expression: string): Rule =>
  createRule(notificationOf(name, expression));
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

/** Whether each of these pushes is filed, with the questions and outcomes. */
async function filedOf(pushes: readonly NewPush[], waiting: readonly string[] = []) {
  const asked: RulesOfDevice[] = [];
  const evaluations = createCommitEvaluations({
    elapsed: () => 0,
    peekDevice: (id) => devices.get(id),
    book: {
      index: {
        concerns: (_: DeviceId, id: string) => rules[id] !== undefined,
        rulesOn: (_: DeviceId, id: string) => rules[id] ?? [],
      },
    } as unknown as Parameters<typeof createCommitEvaluations>[0]['book'],
    newEvaluation: (deviceId): NewEvaluation => ({ id: `of ${deviceId}`, member: 1, deviceId }),
    // A text is the sensor and the value.
    pushOf(text) {
      const [sensor = '', value = ''] = text.split(' ');
      const datapoints = [{ value: Number(value), receivedAt: noon - 1 }];
      return sensor === '' ? undefined : { ...pushTo('d', sensor, 0).push, datapoints };
    },
    looks: {
      async remembered(_, questions) {
        asked.push(...questions);
        return questions.map(
          ({ ids }): Remembered => ({
            waiting,
            states: new Map(ids.map((id) => [id, { state: {}, lastFiredAt: undefined }])),
          }),
        );
      },
    },
  });
  const found = await evaluations.evaluationsOf(pushes, { isWanted: () => true });
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

test('a push behind others is over where these fire and change nothing either', async () => {
  const filed = async (pushes: readonly NewPush[], waiting: readonly string[] = []) =>
    (await filedOf(pushes, waiting)).filed;
  const [high, low] = [pushTo('d', 't', 40), pushTo('d', 't', 20)];
  assert.deepEqual(await filed([high, low, pushTo('e', 't', 20)]), [true, true, false]);
  assert.deepEqual(await filed([pushTo('d', 'u', 40), low]), [true, false], 'of another sensor');
  assert.deepEqual(await filed([pushTo('d', 't', 25, false), low]), [true, false], 'it is late');
  assert.deepEqual(await filed([low], ['t 25', 'u 50']), [false]);
  assert.deepEqual(await filed([low], ['t 25', 't 31']), [true]);
  assert.deepEqual(await filed([low], ['t 25', '']), [true], 'nobody knows what it changes');
  const many = Array.from({ length: evaluationLimits.waitingJudgedMax + 1 }, () => 't 25');
  assert.deepEqual(await filed([low], many), [true]);
  const { outcomes } = await filedOf([low, pushTo('d', 'u', 20)], ['t 31']);
  assert.deepEqual(outcomes, ['', 'false']);
});

test('a push that is older than what its sensor had is evaluated in its turn', async () => {
  const { filed, asked } = await filedOf([pushTo('d', 't', 20, false)]);
  assert.deepEqual([filed, asked], [[true], []]);
});
