import { type Plant, patch } from './plant.ts';

const lines = 'test/compatible/influx-endpoints.test.ts';
const bare = 'src/wire/bare-value.test.ts';

/** What values are read as, by endpoints for clients of other services. */
export const plantsOfValues: readonly Plant[] = [
  {
    name: 'nothing out of a broken text is stored',
    ...{ file: lines, test: 'a line feed inside a text is of it', says: /has no sensor with id v/ },
    patches: [
      patch(
        'src/http/compatible/point-splitter.ts',
        'if (!state.isQuoted) break;',
        'if (state.feeds >= 0) break;',
      ),
    ],
  },
  {
    name: 'a form has so many pairs, and a body so many updates',
    ...{ file: 'src/wire/thing-speak.test.ts', test: 'a form has so many pairs' },
    says: /Missing expected exception/,
    patches: [
      patch(
        'src/wire/thing-speak.ts',
        'if (pairs.length > formPairsMax) throw',
        'if (pairs.length < 0) throw',
      ),
    ],
  },
  {
    name: 'a record of a CSV is not copied with each small piece',
    ...{ file: 'src/lib/csv-reader.test.ts', test: 'a record that comes in small pieces' },
    says: /\d ms/,
    patches: [
      patch(
        'src/lib/csv-reader.ts',
        'isShort && isLittle ? [] : read(false)',
        'isShort && isLittle && false ? [] : read(false)',
      ),
    ],
  },
  {
    name: 'a form for InfluxDB has so many pairs',
    ...{ file: lines, test: 'a form of very many pairs is refused at once', says: /200 !== 400/ },
    patches: [
      patch(
        'src/http/compatible/influx-routes.ts',
        'readForm(Buffer.isBuffer(body) ? body : Buffer.alloc(0))',
        'new URLSearchParams(String(body))',
      ),
    ],
  },
  {
    name: 'a compressed body has the limit of its path',
    ...{ file: 'test/v2/compressed-bodies.test.ts', test: 'as it is unpacked', says: /413/ },
    patches: [
      patch(
        'src/http/body-reader.ts',
        'bounded(inflated(sent, encoding), bytesMax)',
        'inflated(sent, encoding)',
      ),
    ],
  },
  {
    name: 'the time goes on from what is stored',
    ...{ file: 'test/v2/service-clock.test.ts', test: 'days behind at a start' },
    ...{ says: /behind what was stored/ },
    patches: [
      patch(
        'src/app/service-clock.ts',
        'if (newest !== undefined) clock.keepFrom(newest);',
        'void newest;',
      ),
    ],
  },
  {
    name: 'hexadecimal digits are no number',
    ...{ file: bare, test: 'whatever else has digits is a text', says: /241408E4/ },
    patches: [patch('src/lib/bare-value.ts', ' && !exponentOfNoNumber.test(trimmed)', '')],
  },
  {
    name: 'guards of our own files are taken off',
    file: 'src/wire/csv-datapoints.test.ts',
    ...{ test: 'a value is what it looks like', says: /'=1\+1/ },
    patches: [patch('src/lib/csv-cell.ts', 'if (isGuarded(text)) return', 'if (!text) return')],
  },
];
