import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { DomainError } from '../../src/domain/errors.ts';
import { type BodyElement, type ElementText, textOfElement } from '../../src/http/body-elements.ts';
import { createPointSplitter } from '../../src/http/compatible/point-splitter.ts';
import { type LinePoint, readLinePoint } from '../../src/wire/line-protocol.ts';

/** What influxd answered and kept: `npm run influx-answers` asks it again. */
interface Answer {
  readonly body: string;
  readonly status: number;
  readonly points: readonly (readonly [string, object, Record<string, unknown>, string?])[];
}

const file = new URL('influx-answers.json', import.meta.url);
const answers = JSON.parse(readFileSync(file, 'utf8')) as readonly Answer[];

/** Where the product answers otherwise on purpose [decision 0023]. */
const otherwise: readonly RegExp[] = [
  // NULs and white space after a line are dropped.
  /[\r\t\0]+(\n|$)/,
  // Unsigned integers of InfluxDB 2 are taken.
  /=\d+u /,
  // What follows the double quotes of a text breaks it.
  /""|="a"b/,
  // A field has no type that later values must have.
  /v=1,v="a"|v=9" 1\nm v=2|v=1 1\nm v="text"|v=1i 1\nm v=1 2/,
  // Times are refused where they are read as dates.
  / -?9{2}\d{18}$| -?92233720368547758(07|08)$/,
];

/** influxd keeps these and does not show them: its own queries cannot read their names. */
const hidden = /^m\\\\[ ,]/;

const textsOf = (pieces: readonly Buffer[]) => {
  const splitter = createPointSplitter(1_048_576);
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()].flatMap(
    textsOfElement,
  );
};

/** Empty lines one after the other are one element, which says how many feeds it has. */
const textsOfElement = (element: BodyElement): readonly ElementText[] => {
  const text = textOfElement(element);
  const feeds = text === '' && 'bytes' in element ? (element.feeds ?? 0) : 0;
  return [text, ...Array.from({ length: feeds }, () => '')];
};

/** The points that are read out of a body, and whether all of it was. */
function read(body: string) {
  const points: LinePoint[] = [];
  let status = 204;
  for (const text of textsOf([Buffer.from(body)])) {
    assert.equal(typeof text, 'string');
    try {
      const point = readLinePoint(String(text));
      if (point !== undefined) points.push(point);
    } catch (reason) {
      assert.ok(reason instanceof DomainError);
      status = 400;
    }
  }
  return { status, points };
}

/** As influxd shows them: of equal series and times only the last point. */
function shown(points: readonly LinePoint[]): readonly string[] {
  const series = new Map<string, string>();
  for (const { measurement, tags, fields, time } of points) {
    const sorted = [...tags].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const at = time === undefined ? undefined : String(BigInt(time));
    const held = [...fields].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const numbers = held.map(([name, value]) => [name, JSON.parse(JSON.stringify(value))]);
    series.set(JSON.stringify([measurement, sorted, at]), JSON.stringify(numbers));
  }
  return [...series].map((entry) => entry.join(' ')).toSorted();
}

const recorded = ({ points }: Answer): readonly string[] =>
  shown(
    points.map(([measurement, tags, fields, time]) => ({
      measurement,
      // Of a tag that others of the measurement have, influxd shows an empty one.
      tags: new Map(Object.entries(tags).filter(([, tag]) => tag !== '')),
      fields: Object.entries(fields) as unknown as LinePoint['fields'],
      ...(time !== undefined && { time }),
    })),
  );

test('lines are read as InfluxDB 1.6 reads them', () => {
  let compared = 0;
  for (const answer of answers) {
    const { body } = answer;
    if (otherwise.some((pattern) => pattern.test(body))) continue;
    const { status, points } = read(body);
    assert.equal(status, answer.status, JSON.stringify(body));
    if (!hidden.test(body)) assert.deepEqual(shown(points), recorded(answer), JSON.stringify(body));
    compared += 1;
  }
  assert.ok(compared > 300, `${compared} answers`);
});

test('lines that influxd refuses for what follows them, and unsigned integers, are taken', () => {
  for (const { body } of answers.filter(({ body }) => /[\r\t\0]+$/.test(body))) {
    assert.deepEqual(read(body), read(body.replace(/[\r\t\0]+$/, '')), JSON.stringify(body));
  }
  assert.equal(read('m v=18446744073709551615u 1').status, 204);
  assert.equal(read('m v=18446744073709551616u 1').status, 400);
});

test('nothing of a text that is broken is read', () => {
  for (const body of ['m v="a"b 1', 'm v="a""b" 1', 'm v="open\nother v=9 1\nm v=2 2\n']) {
    assert.deepEqual(read(body), { status: 400, points: [] });
  }
});

test('wherever a body is cut, its lines are the same', () => {
  const unit = fc.constantFrom(...'mv=,"\\ \n#1', '測');
  const cuts = fc.array(fc.nat(60), { maxLength: 6 });
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 60 }), cuts, (body, at) => {
      const bytes = Buffer.from(body);
      const sorted = [0, ...at.toSorted((a, b) => a - b), bytes.length];
      const pieces = sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end));
      assert.deepEqual(textsOf(pieces), textsOf([bytes]));
      assert.deepEqual(textsOf([bytes]), linesOf(body));
    }),
    { numRuns: 2_000 },
  );
});

/** The lines of a body, as a plain reading of influxd's own loop finds them. */
function linesOf(body: string): readonly string[] {
  const lines: string[] = [];
  let [line, quoted, fields, equals, commas] = ['', false, false, 0, 0];
  for (let at = 0; at < body.length; at += 1) {
    const letter = body[at] ?? '';
    if (letter === '\n' && !quoted) {
      lines.push(line);
      [line, quoted, fields, equals, commas] = ['', false, false, 0, 0];
      continue;
    }
    line += letter;
    if (letter === '\\') line += body[++at] ?? '';
    else if (letter === ' ') fields = true;
    else if (fields && letter === '"' && equals > commas) quoted = !quoted;
    else if (fields && !quoted && letter === '=') equals += 1;
    else if (fields && !quoted && letter === ',') commas += 1;
  }
  return line === '' ? lines : [...lines, line];
}
