import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DomainError } from '../domain/errors.ts';
import { datapointsOfPoint, type Precision, precisions, readLinePoint } from './line-protocol.ts';

function datapointsOf(line: string, precision: Precision = 'ns') {
  const point = readLinePoint(line);
  assert.ok(point !== undefined, line);
  return datapointsOfPoint(point, precision);
}

const sensorsOf = (line: string) =>
  datapointsOf(line).map(({ sensor }) => `${sensor.deviceId} ${sensor.sensorId}`);

test('tags and names say which device and sensor a field belongs to', () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    'weather,device_id=roof temperature=1,humidity=2': ['roof temperature', 'roof humidity'],
    'temperature,device_id=roof value=1': ['roof temperature'],
    'weather,device=roof,room=attic temperature=1': ['roof attic_temperature'],
    'cpu,host=pi,cpu=cpu0 usage_idle=1': ['pi cpu_cpu0_usage_idle'],
    'disk,host=pi,device=sda1,path=/var used=1': ['pi disk_sda1_-var_used'],
    'mem,host=pi,device_id=roof used=1': ['roof mem_used'],
    'load,host=pi value=1': ['pi load'],
    'weather temperature=1': ['weather temperature'],
    'weather value=1': ['weather value'],
    'weather,b=2,a=1 v=1': ['weather 1_2_v'],
  };
  for (const [line, sensors] of Object.entries(cases)) {
    assert.deepEqual(sensorsOf(line), sensors, line);
  }
});

test('the order of tags does not matter', () => {
  const tags = ['zone=z', 'area=a', 'row=r', 'device_id=D'];
  fc.assert(
    fc.property(fc.shuffledSubarray(tags, { minLength: 4 }), (shuffled) => {
      assert.deepEqual(sensorsOf(`m,${shuffled.join(',')} v=1`), ['D a_r_z_v']);
    }),
  );
});

test('a device with an id that cannot be is refused', () => {
  for (const line of ['a\\ b v=1', 'm,host=my\\ laptop v=1', '測 v=1', '.. v=1']) {
    assert.throws(() => datapointsOf(line), DomainError, line);
  }
});

test('an instant is the millisecond it falls into, before 1970 too', () => {
  const instantOf = (time: string, precision: Precision) =>
    datapointsOf(`m v=1 ${time}`, precision)[0]?.datapoint.timestamp;
  assert.equal(instantOf('1767268800123999999', 'ns'), 1_767_268_800_123);
  assert.equal(instantOf('-1', 'ns'), -1);
  assert.equal(instantOf('-1000000', 'n'), -1);
  assert.equal(instantOf('1767268800123999', 'u'), 1_767_268_800_123);
  assert.equal(instantOf('2', 'm'), 120_000);
  assert.equal(instantOf('2', 'h'), 7_200_000);
  assert.equal(datapointsOf('m v=1')[0]?.datapoint.timestamp, undefined);
});

test('whatever it counts, an instant is a date or refused', () => {
  fc.assert(
    fc.property(fc.bigInt(), fc.constantFrom(...precisions), (time, precision) => {
      const short = BigInt.asIntN(64, time);
      try {
        const [found] = datapointsOf(`m v=1 ${short}`, precision);
        assert.ok(Number.isSafeInteger(found?.datapoint.timestamp));
      } catch (reason) {
        assert.ok(reason instanceof DomainError);
        assert.match(reason.message, /give precision/);
      }
    }),
  );
});
