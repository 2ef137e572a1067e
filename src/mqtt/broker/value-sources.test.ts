import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourcesOf } from './value-sources.ts';

test('the filters that include values name a device, or many', () => {
  const cases: [string, string | undefined][] = [
    ['devices/one/sensors/s/value', 'one'],
    ['devices/one/sensors/+/values', 'one'],
    ['devices/one/#', 'one'],
    ['devices/one/+/s/value', 'one'],
    ['+/one/sensors/s/value', 'one'],
    ['devices/+/sensors/s/value', '+'],
    ['devices/#', '+'],
    ['+/+/+/+/+', '+'],
    ['+/#', '+'],
    ['#', '+'],
    ['devices/one/actuators/a/value', undefined],
    ['devices/+/actuators/+/value', undefined],
    ['devices/one', undefined],
    ['devices', undefined],
    ['+', undefined],
    ['gateways/one/#', undefined],
    ['$SYS/#', undefined],
    ['', undefined],
    ['$share/group/devices/one/sensors/s/value', 'one'],
    ['$share/group/#', '+'],
    ['$share/group', undefined],
  ];
  for (const [filter, device] of cases)
    assert.deepEqual(sourcesOf([filter]), device === undefined ? [] : [device], filter);
  assert.deepEqual(sourcesOf(['devices/one/#', '$SYS/#', 'devices/one/#']), ['one', 'one']);
});
