import assert from 'node:assert/strict';
import { payerOfAccount } from '../../../src/domain/budgets/budget.ts';
import { singleBatch } from '../../../src/domain/datapoints/column-batch.ts';
import { sessionKey } from '../../../src/domain/messaging/message.ts';
import { aDevice, aSensor, deviceId, noon, sensorId } from './builders.ts';
import { aMessage, ana, opened, plainMessage } from './mqtt-sessions.contract.ts';
import { type OpenEmptyStorage, type Promises, testPromises } from './promises.ts';

const promises: Promises = {
  'last wills are kept by the terms of their connections until they are settled': async ({
    mqttSessions,
  }) => {
    const [known, brief] = [sessionKey(ana, 'client ü'), sessionKey('guest', 'b')];
    const message = aMessage('devices/d/gone', {
      ...{ payload: Uint8Array.of(0, 255), properties: Uint8Array.of(1, 1), qos: 2, retain: true },
      ...{ publisher: known, payer: payerOfAccount('id-ana') },
    });
    const will = { key: known, message, delayMs: 60_000, expirySeconds: 9, turn: 2 ** 41 };
    const guests = { key: brief, message: aMessage('t', { publisher: brief }), delayMs: 0 };
    await mqttSessions.apply([
      opened(ana, 'client ü'),
      { kind: 'will_kept', ...will },
      { kind: 'will_kept', ...will },
      { kind: 'will_kept', ...guests, turn: 7 },
      { kind: 'will_kept', ...guests, turn: 8 },
      { kind: 'will_settled', key: brief, turn: 7 },
      { kind: 'will_settled', key: known, turn: 8 },
    ]);
    const loaded = async () =>
      (await mqttSessions.load()).wills?.map((one) => ({
        ...one,
        message: plainMessage(one.message),
      }));
    const expected = [
      { ...guests, turn: 8, message: plainMessage(guests.message) },
      { ...will, message: plainMessage(message) },
    ];
    assert.deepEqual(await loaded(), expected);
    await mqttSessions.apply([
      { kind: 'moved', key: known, expirySeconds: 70, leftAt: noon },
      { kind: 'will_settled', key: brief, turn: 8 },
    ]);
    assert.deepEqual(await loaded(), [{ ...expected[1], leftAt: noon }]);
  },

  'the value of a will is stored once, however often it is published': async (storage) => {
    const { mqttSessions, datapoints, devices } = storage;
    await devices.insert(aDevice('d', { sensors: [aSensor('t')] }));
    const key = sessionKey('guest', 'b');
    const will = { key, message: aMessage('t', { publisher: key }), delayMs: 60_000, turn: 7 };
    const append = async (willTurn: number) => {
      const publishContext = { receivedAs: { session: key, packetId: 0, retain: false, willTurn } };
      const ref = { deviceId: deviceId('d'), sensorId: sensorId('t') };
      const batch = singleBatch(1, undefined, noon);
      const [outcome] = await datapoints.append([{ ...ref, batch, publishContext }]);
      return outcome?.kind === 'stored' ? outcome.fresh.count : outcome?.kind;
    };
    await mqttSessions.apply([
      { kind: 'will_kept', ...will },
      { kind: 'will_kept', ...will, turn: 8 },
    ]);
    assert.deepEqual([await append(7), await append(7), await append(8)], [1, 0, 1]);
    const delays = (await mqttSessions.load()).wills?.map(({ delayMs }) => delayMs);
    // What is stored was due.
    assert.deepEqual(delays, [-1, -1]);
  },
};

/** What every engine promises of last wills. */
export function mqttWillsContract(openEmptyStorage: OpenEmptyStorage): void {
  testPromises(promises, openEmptyStorage);
}
