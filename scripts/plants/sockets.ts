import { limit, type Plant, patch } from './plant.ts';

const silent = { file: 'test/neighbours/sockets-silent.test.ts', test: 'said nothing for 10.6 s' };
const largePushes = 'test/neighbours/sockets-large-pushes.test.ts';
const connectionRoom = 'src/app/connection-quotas.ts';
const answerBudget = 'src/http/answer-budget.test.ts';
const appender = 'src/domain/datapoints/appender.ts';
const died = /the program died|other side closed|ECONN/;
const wholeHeads = 'test/neighbours/sockets-whole-heads.test.ts';
const requestLimits = 'src/http/request-limits.ts';
const blanks = 'test/neighbours/sockets-blanks.test.ts';

/** Connections, bodies and answers. */
export const plantsOfSockets: readonly Plant[] = [
  {
    name: 'who reads no short answers is cut off',
    ...{
      file: 'test/fast-path.test.ts',
      test: 'who reads no answers to pushes',
      says: /timed out/,
    },
    patches: [
      patch(
        'src/http/answer-budget.ts',
        'if (answer.writableLength > 0) setImmediate',
        'if (answer.writableLength < 0) setImmediate',
      ),
    ],
  },
  {
    name: 'a connection that renegotiates without end is ended',
    ...{ file: 'test/mqtt/servers.test.ts', test: 'renegotiates TLS 1.2', says: /handshakes/ },
    patches: [
      patch(
        'src/lib/connection-guard.ts',
        "if (error.code !== 'ERR_TLS_SESSION_ATTACK') return;",
        'if (error !== undefined) return;',
      ),
    ],
  },
  {
    name: 'a connection has an error listener from accept to close',
    ...{ ...silent, says: died },
    patches: [
      patch(
        'src/lib/connection-guard.ts',
        "    socket.on('error', ignore);\n    if (isOver)",
        '    if (isOver)',
      ),
    ],
  },
  {
    name: 'the end of the service waits for no connection',
    ...{ ...silent, says: /it did not end/ },
    patches: [
      patch(
        'src/lib/connection-guard.ts',
        '      for (const socket of open) socket.destroy();\n',
        '',
      ),
    ],
  },
  {
    name: 'a silent guest is closed when somebody connects',
    ...{ file: 'test/neighbours/sockets-one-each.test.ts', test: '1,100 addresses that say' },
    says: /ECONNRESET|fetch failed|hang up|honest client's/,
    patches: [
      patch(
        connectionRoom,
        "refusal.scope !== 'own') endSilentOf(guests);",
        'false) return false;',
      ),
    ],
  },
  {
    name: 'a connection that has logged in counts for its account',
    ...{ file: 'test/connection-shares.test.ts', test: 'a connection that logged in by' },
    says: /true !== false/,
    patches: [patch(connectionRoom, 'if (!mayTakeOver(account)) return;', 'return;')],
  },
  {
    name: 'a body that would take long to read is refused before',
    ...{ file: 'test/neighbours/changes-many-keys.test.ts', test: 'bodies of 60,000 keys' },
    ...{ says: /honest client's|on a new connection took/, servedMs: 2_000 },
    patches: [limit('jsonCostMax: 10_000', 'jsonCostMax: 1_000_000_000')],
  },
  {
    name: 'who connects goes before long work',
    ...{ file: 'src/lib/event-loop.test.ts', test: 'let in before', says: /slices went before/ },
    patches: [patch('src/lib/connection-guard.ts', '    noteArrival();\n', '')],
  },
  {
    name: 'an account has a quota of connections',
    ...{ file: 'src/app/connection-quotas.test.ts', test: 'an account has its share' },
    says: /25 !== 20/,
    patches: [patch(connectionRoom, 'if (own >= perAccount) return false;', '')],
  },
  {
    name: 'stalled handshakes are closed when another needs the place',
    ...{ file: 'test/v2/tls-handshakes.test.ts', test: 'make room for one that goes on' },
    says: /false !== true/,
    patches: [
      patch(
        connectionRoom,
        "refusal.scope !== 'own') endSilentOf(guests);",
        'false) return false;',
      ),
    ],
  },
  {
    name: 'answers that are not read have a budget',
    ...{ file: answerBudget, test: 'answers that nobody reads', budget: 'answer_bytes' },
    says: /an answer that waits|bytes are held/,
  },
  {
    name: 'answers that are asked for in one breath have a budget',
    ...{ file: 'src/http/request-gate.test.ts', test: 'a request of a connection begins' },
    says: /requests began/,
    patches: [
      patch(
        'src/http/request-pipeline.ts',
        '#isWaiting || this.answer !== undefined',
        '#isWaiting',
      ),
    ],
  },
  {
    name: 'unfinished bodies have a budget',
    ...{ file: largePushes, test: '60 bodies', budget: 'partial_bytes', says: /bytes are held/ },
  },
  {
    name: 'heads that are not whole have a budget',
    ...{ file: 'test/neighbours/sockets-slow-heads.test.ts', test: '1,000 addresses that drip' },
    ...{ budget: 'request_bytes', says: /bytes of heads are held/ },
  },
  {
    name: 'requests whose bodies do not come have a budget',
    ...{ file: wholeHeads, test: '1,800 addresses whose bodies' },
    ...{ budget: 'request_bytes', says: /bytes of requests are held/ },
  },
  {
    name: 'who drips a body does not stay ahead of others',
    ...{ file: 'src/http/request-gate.test.ts', test: 'ends first where that drips' },
    says: /before who dripped/,
    patches: [patch(requestLimits, 'progressBytes: 512', 'progressBytes: 1')],
  },
  {
    name: 'a head has so many fields',
    ...{ file: 'src/http/request-head.test.ts', test: 'a head has so many fields' },
    says: /'object' !== 'string'/,
    patches: [patch(requestLimits, 'headFieldsMax: 100', 'headFieldsMax: 100_000')],
  },
  {
    name: 'the head of a request goes with its answer',
    ...{ file: wholeHeads, test: 'a large head goes', says: /MiB are held/ },
    patches: [
      patch('src/http/request-gate.ts', '    this.request = undefined;\n', ''),
      patch(requestLimits, 'keptFieldsBytesMax: 1_024', 'keptFieldsBytesMax: 100_000'),
    ],
  },
  {
    name: 'a body that is under way counts for the account that its head names',
    ...{ file: 'test/slow-heads.test.ts', test: 'a body that is under way' },
    says: /bytes are used, and by guests/,
    patches: [patch('src/http/request-gate.ts', '.then(recount)', '.then(() => undefined)')],
  },
  {
    name: 'blanks inside of a field of a head are gone through once',
    ...{ file: blanks, test: 'in a field of a head' },
    says: /healthz waited|honest client's/,
    servedMs: 2_000,
    patches: [
      patch(
        'src/http/request-head.ts',
        '  let [from, end] = [0, value.length];\n',
        "  if (value !== '') return value.replace(/^[\\t ]+|[\\t ]+$/g, '');\n" +
          '  let [from, end] = [0, value.length];\n',
      ),
    ],
  },
  {
    name: 'blanks inside of a time are gone through once',
    ...{ file: blanks, test: 'in a time or a place', says: /healthz waited|honest client's/ },
    patches: [patch('src/lib/local-time.ts', '/(?:UTC|GMT)$/i', '/\\s*(?:UTC|GMT)$/i')],
  },
  {
    name: 'blanks inside of a place are gone through once',
    ...{ file: blanks, test: 'in a time or a place', says: /healthz waited|honest client's/ },
    patches: [patch('src/wire/fields.ts', '(?:\\s*[,;]\\s*|\\s+)', '\\s*[,;\\s]\\s*')],
  },
  {
    name: 'TLS handshakes under way have a budget',
    ...{ file: 'test/v2/tls-handshakes.test.ts', test: 'has its share of handshakes' },
    ...{ budget: 'tls_handshakes', says: /!== 10|true !== false/ },
  },
  {
    name: 'bodies in chunks of a byte are cut off',
    ...{ file: answerBudget, test: 'a body in chunks of a byte', says: /read to its end/ },
    patches: [limit('tinyChunksMax: 1_024', 'tinyChunksMax: 1_000_000_000')],
  },
  {
    name: 'large pushes are read in slices',
    ...{ file: 'src/http/large-push.test.ts', test: 'more than 128 KiB', says: /'large'/ },
    patches: [limit('largePushBytesMin: 131_072', 'largePushBytesMin: 1_000_000_000')],
  },
  {
    name: 'CSV is read a few thousand rows at a time',
    ...{ file: 'src/http/large-push.test.ts', test: 'a few thousand rows', says: /turns/ },
    patches: [patch('src/lib/csv-reader.ts', 'csvSliceBytes: 8_192', 'csvSliceBytes: 131_072')],
  },
  {
    name: 'bodies of many chunks go on in slices',
    ...{ file: 'src/http/request-gate.test.ts', test: 'of many chunks', says: /in one turn/ },
    patches: [
      patch('src/http/request-cutter.ts', 'linesPerPiece = 1_024', 'linesPerPiece = 1_000_000'),
    ],
  },
  {
    name: 'bodies under way go on in slices',
    ...{ file: 'src/http/request-gate.test.ts', test: 'bodies under way', says: /in one turn/ },
    patches: [
      patch('src/http/request-limits.ts', 'chunkedBytesMin: 512', 'chunkedBytesMin: 1_000_000_000'),
    ],
  },
  {
    name: 'a request gets on before the next one begins',
    ...{ file: 'src/http/request-gate.test.ts', test: 'gets on as far', says: /in one turn/ },
    patches: [patch('src/http/request-gate.ts', ', getOn: inTicks }', ' }')],
  },
  {
    name: 'records of bulk requests are stored in slices',
    ...{ file: 'test/neighbours/sockets-bulk-lines.test.ts', test: 'bodies of refused lines' },
    ...{ says: /healthz waited|honest client's/, servedMs: 2_000 },
    patches: [
      patch(
        'src/http/bulk-feed.ts',
        '      if (line % linesPerLook === 0 && work.pace.isOver()) await work.pace.rest();\n',
        '',
      ),
      patch('src/http/bulk-feed.ts', '    if (turn !== undefined) await turn;\n', ''),
      patch(
        'src/domain/datapoints/ingest-many.ts',
        '      if (pace.isOver()) await pace.rest();\n    }\n    return opened;',
        '    }\n    return opened;',
      ),
    ],
  },
  {
    name: 'a refused line costs no stack trace',
    ...{ file: 'src/http/bulk-feed.test.ts', test: 'has no stack trace' },
    says: /expected to not match/,
    patches: [patch('src/lib/stackless.ts', '  Error.stackTraceLimit = 0;\n', '')],
  },
  {
    name: 'refused pushes of strangers hide nothing of an owner’s',
    ...{ file: 'test/neighbours/pushes-refused.test.ts', test: 'refused pushes of strangers' },
    says: /strangers hid why/,
    patches: [
      patch(
        'src/domain/datapoints/refused-pushes.ts',
        'const by = (owner: string) => ({ payer, isOwner: sender === owner });',
        "const by = () => ({ payer: payerAt(''), isOwner: false });",
      ),
    ],
  },
  {
    name: 'waiting pushes are stored in rotation by payer',
    ...{ file: 'src/domain/datapoints/appender.test.ts', test: 'who brings little' },
    says: /hers was commit/,
    patches: [patch(appender, 'payerOf: (push) => push.payer,', "payerOf: () => '',")],
  },
  {
    name: 'a push that cannot be stored fails alone',
    ...{ file: 'src/domain/datapoints/appender.test.ts', test: 'fails alone', says: /./ },
    patches: [
      patch(
        appender,
        '  } catch (reason) {\n    // The store says',
        '  } catch (reason) {\n    if (reason) throw reason;\n    // The store says',
      ),
    ],
  },
  {
    name: 'one frame of a WebSocket is handled in each slice',
    ...{ file: 'test/neighbours/sockets-web.test.ts', test: 'frames of a byte' },
    says: /honest client's/,
    patches: [
      patch(
        'src/mqtt/listener.ts',
        'allowSynchronousEvents: false',
        'allowSynchronousEvents: true',
      ),
    ],
  },
  {
    name: 'packets that wait are handled for a few milliseconds of each client',
    ...{
      file: 'src/mqtt/broker/packet-input.test.ts',
      test: 'packets that wait',
      says: /one turn/,
    },
    patches: [patch('src/mqtt/broker/packet-input.ts', 'sliceMs = 2;', 'sliceMs = 10;')],
  },
  {
    name: 'answers to many clients leave in slices',
    ...{ file: 'src/mqtt/packets/packet-writer.test.ts', test: 'answers to', says: /one turn/ },
    patches: [patch('src/mqtt/packets/packet-writer.ts', 'flushMs = 3;', 'flushMs = 1e9;')],
  },
];
