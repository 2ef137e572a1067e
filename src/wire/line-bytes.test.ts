import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type BulkRow, BulkStep, rowsOf } from '../domain/datapoints/bulk-step.ts';
import { createLineByteReader } from './line-bytes.ts';
import { datapointsOfPoint, type Precision, readLinePoint } from './line-protocol.ts';

type Given = Precision | 'auto' | undefined;

/** The datapoints of a line from its bytes, behind others so that its place counts; or none. */
function fromBytes(text: string, precision: Given) {
  const step = new BulkStep();
  const bytes = Buffer.from(`xx${text}`, 'utf8');
  const read = createLineByteReader(precision);
  if (!read(bytes, 2, bytes.length, 7, step)) return undefined;
  step.end();
  return rowsOf(step).map(plain);
}

function fromText(text: string, precision: Given) {
  const point = readLinePoint(text);
  const all = point === undefined ? [] : datapointsOfPoint(point, precision);
  return all.map((one) => plain({ line: 7, ...one }));
}

function plain(row: BulkRow): unknown {
  assert.ok('datapoint' in row);
  const { deviceId, sensorId } = row.sensor;
  return { line: row.line, deviceId, sensorId, ...row.datapoint };
}

test('usual lines are read from their bytes as from their text', () => {
  const lines = [
    ['weather,device_id=roof temperature=21.5,humidity=48i 1767268800', 's'],
    ['temperature,device_id=roof value=-0.5 1767268800123', 'ms'],
    ['cpu,host=pi-1,cpu=cpu0 usage_idle=97.5,busy=t,name="a b" 1767268800123456789', undefined],
    ['k,s=s0 v=true 1767268800123456', 'us'],
    ['k v=12', undefined],
  ] as const;
  for (const [text, precision] of lines) {
    assert.deepEqual(fromBytes(text, precision), fromText(text, precision), text);
  }
});

test('what is unusual is left to the reader of texts', () => {
  const lines = [
    ...['', '# a', 'm', 'm v', 'm v=', 'm v=1 2 3', 'm v=1x', 'm v=1,v=2 5', 'm time=1 5'],
    ...['m,t=a\\ b v=1', 'm v="a\\"b"', 'm v="open', 'm v=007', 'm v=1.5i', 'm v=yes', ' m v=1'],
    ...['m v=1 -5', 'm v=1 5', 'm v=1 100000000000000000000', 'm,t=\u00e9 v=1', 'm a,b=1'],
  ];
  for (const text of lines) assert.equal(fromBytes(text, undefined), undefined, text);
  assert.equal(fromBytes('m v=1 1767268800', 'auto'), undefined);
});

test('whatever is read from bytes is what its text says', () => {
  const word = fc.string({ unit: fc.constantFrom(...'ab1.,= "\\-:i'), maxLength: 5 });
  const value = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.constantFrom('1', '-3i', '1.50', 't', 'FALSE', '"x y"', '1e5', '-0', '9007199254740993'),
    word,
  );
  const field = fc.tuple(fc.constantFrom('a', 'value', 'time', 'b'), value).map((v) => v.join('='));
  const time = fc.oneof(
    fc.nat({ max: 2 ** 31 - 1 }).map(String),
    fc.bigInt({ min: 0n, max: 2n ** 63n }).map(String),
    fc.constantFrom('', '1767268800123456789', '1767268800123', '-1'),
  );
  const head = fc.constantFrom('m', 'm,device_id=d', 'm,host=h,x=1', 'm,b=2,a=1', 'm,a=1,a=2');
  const fields = fc.array(field, { minLength: 1, maxLength: 4 }).map((all) => all.join(','));
  const given = fc.constantFrom<Given[]>(undefined, 'ns', 'us', 'ms', 's', 'm', 'auto');
  fc.assert(
    fc.property(head, fields, time, given, (measurement, values, at, precision) => {
      const text = `${measurement} ${values}${at === '' ? '' : ` ${at}`}`;
      const found = fromBytes(text, precision);
      if (found !== undefined) assert.deepEqual(found, fromText(text, precision), text);
    }),
    { numRuns: 3_000 },
  );
});

test('a long head or name is left to the ordinary reader: it would be kept for each field', () => {
  const long = 'x'.repeat(600);
  assert.equal(fromBytes(`m,device_id=d,a=${long} v=1`, undefined), undefined);
  assert.equal(fromBytes(`m,device_id=d ${long}=1`, undefined), undefined);
  assert.notEqual(fromBytes('m,device_id=d v=1', undefined), undefined);
});
