import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anySentence } from '../../test/dashboard/any-sentence.ts';
import type { Notification } from '../api/alert-types.ts';
import type { Device } from '../api/types.ts';
import {
  type AlertForm,
  changesOf,
  conditionGap,
  draftOf,
  formOf,
  gapOf,
  plainNumber,
  proposedMessage,
} from './alert-form.ts';
import { concernOf, thresholdOf, watchesOf } from './attention.ts';

const message = { usernames: ['ama'], channels: ['sms'], message: 'dry' };
const action = { kind: 'message', ...message } as const;
const form: AlertForm = {
  description: '',
  devices: ['field-3'],
  sentence: {
    conditions: [{ kind: 'compare', sensor: 'soil', comparison: 'below', value: '30' }],
    forSeconds: 0,
  },
  expression: 'soil < 30',
  otherSensors: [],
  action,
  maxAge: 3_600,
  everySeconds: 0,
  until: '',
};

function anAlert(expression: string, others: Partial<Notification> = {}): Notification {
  return {
    id: 'n1',
    status: 'active',
    owner: 'ama',
    times_sent: 0,
    date_created: '2026-01-01T00:00:00.000Z',
    date_modified: '2026-01-01T00:00:00.000Z',
    condition: { devices: [], sensors: [], expression },
    action: message,
    ...others,
  };
}

function aDevice(value: unknown, timestamp = '2026-01-01T12:00:00.000Z'): Device {
  return {
    id: 'field-3',
    owner: 'ama',
    sensors: [{ id: 'soil', last_value: { value, timestamp } }],
    actuators: [],
    date_created: '',
    date_modified: '',
  };
}

const noon = Date.parse('2026-01-01T12:00:00.000Z');

test('a form that is sent and read again is the same form', () => {
  fc.assert(
    fc.property(anySentence, fc.nat(), fc.boolean(), (sentence, everySeconds, switches) => {
      const actuation = { device_id: 'd', actuator_id: 'pump', actuator_value: true };
      const given: AlertForm = {
        ...{ ...form, sentence, everySeconds },
        ...(switches && { action: { kind: 'actuation', ...actuation } }),
      };
      const { expression: _own, ...read } = formOf(draftOf(given));
      const { expression: _given, ...expected } = given;
      assert.deepEqual(read, expected);
    }),
  );
});

test('an expression that the form cannot say is kept as it was written', () => {
  const alert = anAlert('soil ~= dry.*', {
    condition: { devices: [], sensors: ['soil'], expression: 'soil ~= dry.*' },
  });
  const read = formOf(alert);
  assert.equal(read.sentence, undefined);
  assert.deepEqual(draftOf(read).condition, alert.condition);
});

test('a change removes what the form has left empty', () => {
  const changes = changesOf(form);
  assert.equal(changes['throttling'], null);
  assert.equal(changes['expires'], null);
  assert.equal(changesOf({ ...form, everySeconds: 60 })['throttling'], 60);
});

test('the first gap of a form is named, in its order', () => {
  const compare = { kind: 'compare', sensor: 'soil', comparison: 'below' } as const;
  const withValue = (value: string): AlertForm => ({
    ...form,
    sentence: { conditions: [{ ...compare, value }], forSeconds: 0 },
    action: { ...action, usernames: [] },
  });
  assert.equal(gapOf(form, noon), undefined);
  assert.equal(gapOf(withValue(''), noon), 'value');
  assert.equal(gapOf(withValue('dry'), noon), 'number');
  assert.equal(gapOf(withValue('3'), noon), 'usernames');
  assert.equal(conditionGap(withValue('3')), undefined);
  assert.equal(gapOf({ ...form, action: { ...action, channels: [] } }, noon), 'channels');
  assert.equal(gapOf({ ...form, action: { ...action, message: ' ' } }, noon), 'message');
  assert.equal(gapOf({ ...form, until: '2025-01-01' }, noon), 'until');
  assert.equal(gapOf({ ...form, sentence: undefined, expression: ' ' }, noon), 'expression');
});

test('a number may be typed with a comma', () => {
  assert.equal(plainNumber('3,5'), '3.5');
  assert.equal(plainNumber('dry, very'), 'dry, very');
});

test('the message proposed names the device and holds the value with its unit', () => {
  assert.equal(proposedMessage({ id: 'soil', name: 'Soil' }, '%'), '$' + '{id}: Soil {soil} %');
});

test('the alert line of a sensor is that of an active alert that watches its device', () => {
  const of = (alert: Notification) => thresholdOf([alert], { id: 'field-3', owner: 'ama' }, 'soil');
  assert.equal(of(anAlert('soil < 30')), 30);
  assert.equal(of(anAlert('soil < 30', { status: 'inactive' })), undefined);
  assert.equal(of(anAlert('soil < 30', { owner: 'kofi' })), undefined);
  assert.equal(of(anAlert('air < 30')), undefined);
  assert.equal(of(anAlert('silent(soil, 2h)')), undefined);
});

test('a device whose last values meet an alert needs attention, others do not', () => {
  const cases: readonly (readonly [string, unknown, boolean])[] = [
    ['soil < 30', 29.9, true],
    ['soil < 30', 30, false],
    ['soil <= 30', '30', true],
    ['soil > 30', 'wet', false],
    ['soil == 10..20', 20, true],
    ['soil != 10..20', 20, false],
    ['soil == dry', 'dry', true],
    ['soil < 30; air > 3', 1, false],
    ['soil ~= d.*', 'dry', false],
  ];
  for (const [expression, value, isConcern] of cases) {
    const concern = concernOf(aDevice(value), watchesOf([anAlert(expression)]), noon);
    assert.equal(concern !== undefined, isConcern, `${expression} at ${value}`);
  }
});

test('a silence that is being watched for is a concern once it is long enough', () => {
  const alert = anAlert('silent(soil, 2h)');
  const watched = watchesOf([alert]);
  assert.equal(concernOf(aDevice(1), watched, noon + 7_199_000), undefined);
  assert.equal(concernOf(aDevice(1), watched, noon + 7_200_000)?.alert, alert);
});

test('an alert that is paused, or of somebody else, is no concern', () => {
  const paused = watchesOf([anAlert('soil < 30', { status: 'inactive' })]);
  const others = watchesOf([anAlert('soil < 30', { owner: 'kofi' })]);
  assert.equal(concernOf(aDevice(1), paused, noon), undefined);
  assert.equal(concernOf(aDevice(1), others, noon), undefined);
});
