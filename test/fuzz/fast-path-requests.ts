import type { Random } from './random.ts';

/** Where the requests of one connection go. */
export interface Lane {
  readonly device: string;
  /** Nobody pushes to it: what a read finds does not depend on when it begins. */
  readonly still: string;
  /** undefined: of a guest. */
  readonly token: string | undefined;
}

/** What a connection sends, piece by piece. */
export interface Conversation {
  readonly pieces: readonly Buffer[];
  /** Then the client ends its side; else it waits for the service to end the connection. */
  readonly isEnded: boolean;
}

const crlf = '\r\n';
const hosts = ['127.0.0.1', 'kipimo.example:8080', 'x'];
const usualFields = [
  'User-Agent: python-requests/2.32.3',
  'Accept: */*',
  'Connection: keep-alive',
  'connection: Keep-Alive',
  'Accept: application/json, text/plain;q=0.5',
  'X-Request-Id: 0af7651916cd43dd8448eb211c80319c',
  'X-Forwarded-For: 203.0.113.7, 10.0.0.1',
  'Accept-Language:en',
  'Cache-Control: no-cache',
  'sec-fetch-mode: cors',
];
/** Requests that the fast path leaves to Fastify, and what hides a second request. */
const oddFields = [
  'Origin: http://127.0.0.1',
  'Cookie: kipimo_session=abc',
  'If-None-Match: *',
  'If-None-Match: W/"AAAAAAAAAAAAAAAAAAAAAA"',
  'Accept-Encoding: gzip, deflate',
  'Expect: 100-continue',
  'Expect: nothing',
  'Upgrade: h2c',
  'Connection: upgrade',
  'Connection: close',
  'Connection: keep-alive, close',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: identity',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding:\tchunked',
  'Content-Length: 5',
  'Content-Length: +5',
  'Content-Length: 0x5',
  'Content-Length: 5, 5',
  'Content-Length: 14\r\nContent-Length: 14',
  'Content-Length: 14\nContent-Length: 15',
  'Transfer-Encoding: chunked\nX-After: a',
  'Content-Length: 00005',
  'Content-Length: -1',
  'Content-Length : 5',
  'Content-Length: 99999999999999999999',
  'Content-Length:\r\n 5',
  'X-Folded: a\r\n b',
  'X-Tab:\ta',
  'X-Space:  a  ',
  'X Space: a',
  ': nameless',
  'X-Nul: a\0b',
  'X-High: \xff\xfe',
  'X-Bare: a\nTransfer-Encoding: chunked',
  'X-Return: a\rTransfer-Encoding: chunked',
  'X_Underscore: a',
  'constructor: a',
  '__proto__: a',
  'Host: other.example',
  'Authorization: Bearer nonsense',
  'Authorization: Basic YTpi',
  'Content-Type: application/json',
  'Content-Type: application/json; charset=latin1',
  'Content-Type: application/xml',
  'Content-Type: a b c',
  'Content-Type: ;',
  'Kipimo-Import: true',
  'Trailer: X-After',
  'TE: trailers',
  'HTTP2-Settings: AAMAAABkAAQAAP__',
  `X-Long: ${'y'.repeat(5_000)}`,
  `X-Very-Long: ${'y'.repeat(20_000)}`,
];
const versions = ['HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/1.2', 'http/1.1', 'HTTP/1.1 '];
const bodies = [
  '{"value":20.5}',
  '21',
  '"text"',
  '[{"value":1,"timestamp":"2026-01-01T00:00:00.000Z"},{"value":2}]',
  '{"value":7,"timestamp":"2026-02-03T04:05:06.789Z"}',
  '{"value":"ünï©ödé ☃"}',
  '{"valu":1}',
  '{"value":',
  'not json',
  '[]',
  '{"value":1e400}',
  '\xff\xfe\xfd',
  `{"value":"${'z'.repeat(4_000)}"}`,
  `{"value":"${'z'.repeat(5_000)}"}`,
  'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n',
];
const types = [
  ...['application/json', 'text/plain', 'text/csv'],
  ...['application/json; charset=utf-8', 'text/plain; charset=UTF-8', 'text/plain; charset=utf-16'],
];

/** The sentinel closes the connection behind all that was sent before it. */
const sentinel = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

/** What one connection sends: requests, whole, bent, smuggled or cut, and then the sentinel. */
export function conversation(random: Random, given: Lane): Conversation {
  // Pushes of several payers at once have no order among each other.
  const lane = random.once(8) ? { ...given, token: undefined } : given;
  const count = random.pick([1, 1, 2, 3, 5, 12]);
  // Pushes that come after a read on the same connection may be stored before it.
  const requests: Buffer[] = [];
  while (requests.length < count && !requests.some(endsConnection)) {
    const device = requests.length === count - 1 ? lane.device : lane.still;
    const isSmuggled = random.once(12);
    requests.push(isSmuggled ? smuggled(random, lane) : request(random, lane, device));
  }
  const whole = Buffer.concat(requests);
  // What comes behind a request that ends its connection is stored, or not, as time has it.
  if (random.once(12)) {
    return {
      pieces: [Buffer.concat([bent(random, whole), Buffer.from(sentinel)])],
      isEnded: false,
    };
  }
  if (random.once(25)) {
    const part = whole.subarray(0, random.below(whole.length));
    // Who ends with an answer due gets it or not, as time has it.
    return { pieces: cut(random, part), isEnded: count === 1 };
  }
  const all = Buffer.concat([whole, Buffer.from(sentinel)]);
  return { pieces: cut(random, all), isEnded: false };
}

/** Whether the connection may end with the answer to the request. */
function endsConnection(request: Buffer): boolean {
  const text = request.toString('latin1');
  return !text.includes('Host: ') || /close|HTTP\/[^1]|HTTP\/1\.[^1]|hides/.test(text);
}

/** A push of which two fields say where it ends, each otherwise, with another one in its body. */
function smuggled(random: Random, lane: Lane): Buffer<ArrayBuffer> {
  const who = credentials(random, lane);
  const line = `POST ${plainTarget(random, lane.device, true)} HTTP/1.1`;
  const inner = [line, 'Host: x', ...who, 'Content-Length: 2', '', '66'].join(crlf);
  const body = random.pick(['21', `0${crlf}${crlf}${inner}`, `2${crlf}21${crlf}0${crlf}${crlf}`]);
  const framings = [
    'Transfer-Encoding: chunked',
    'transfer-encoding: identity',
    'Transfer-Encoding: gzip, chunked',
    'Content-Length: 2',
    'content-length: 21',
  ];
  const fields = [`Content-Length: ${body.length}`, random.pick(framings)];
  if (random.once(2)) fields.reverse();
  const head = [line, 'Host: hides', ...who, ...fields, '', ''].join(crlf);
  return Buffer.from(head + body, 'latin1');
}

function request(random: Random, lane: Lane, read: string): Buffer<ArrayBuffer> {
  const isPush = !random.once(3);
  const device = isPush ? lane.device : read;
  const method = random.once(30) ? random.pick(['PUT', 'get', 'OPTIONS', 'P0ST', '']) : undefined;
  const target = random.once(12) ? oddTarget(random, device) : plainTarget(random, device, isPush);
  const body = Buffer.from(random.pick(bodies), random.once(2) ? 'utf8' : 'latin1');
  const fields = [
    ...(random.once(40) ? [] : [`Host: ${random.pick(hosts)}`]),
    ...credentials(random, lane),
    ...(isPush ? lengthOf(random, body) : []),
    ...(isPush && !random.once(4) ? [`Content-Type: ${random.pick(types)}`] : []),
    ...(random.once(3) ? [random.pick(usualFields)] : []),
    ...(random.once(8) ? [random.pick(oddFields)] : []),
  ];
  if (random.once(6)) fields.reverse();
  const version = random.once(40) ? random.pick(versions) : 'HTTP/1.1';
  const end = random.once(60) ? random.pick(['\n', '\r', ' \r\n']) : crlf;
  const line = `${method ?? (isPush ? 'POST' : 'GET')} ${target} ${version}`;
  const whole = [line, ...fields].join(end) + end + end;
  const head = random.once(6) ? withLineFeeds(random, whole) : whole;
  return Buffer.concat([Buffer.from(head, 'latin1'), isPush ? body : Buffer.alloc(0)]);
}

/** Some line ends, or all, are lone line feeds. */
function withLineFeeds(random: Random, head: string): string {
  const isAll = random.once(3);
  return head.replaceAll(crlf, (end) => (isAll || random.once(4) ? '\n' : end));
}

function credentials(random: Random, { token }: Lane): readonly string[] {
  if (random.once(15)) return ['Authorization: x y'];
  if (token === undefined) return random.once(2) ? [] : ['Authorization: Bearer'];
  if (random.once(15)) return [`Authorization: Bearer ${token.replace(/.$/, '_')}`];
  return [`${random.once(3) ? 'authorization' : 'Authorization'}: Bearer ${token}`];
}

/** Now and then a length that is not that of the body: what follows is another request, or none. */
function lengthOf(random: Random, { length }: Buffer): readonly string[] {
  if (random.once(60)) return [];
  if (random.once(60)) return ['Transfer-Encoding: chunked'];
  const wrong = random.once(40) ? random.pick([-3, -1, 1, 40]) : 0;
  return [`Content-Length: ${Math.max(0, length + wrong)}`];
}

function plainTarget(random: Random, device: string, isPush: boolean): string {
  const id = random.once(15) ? random.pick(['missing', 'secret', 'constructor']) : device;
  const sensor = random.once(20) ? 'nowhere' : random.pick(['s', 't']);
  const isOfV2 = !random.once(3);
  const thing = isOfV2 ? `/api/v2/devices/${id}` : `/api/v1/sensors/${id}`;
  if (!isPush) return thing;
  const part = isOfV2 ? 'sensors' : 'measurements';
  return `${thing}/${part}/${sensor}/${random.pick(['value', 'values'])}`;
}

const oddTarget = (random: Random, device: string): string =>
  random.pick([
    `/api/v2/devices/${device}?calibrated=false`,
    `/api/v2/devices/${device}/`,
    `/api/v2//devices/${device}`,
    `/api/v2/devices/%22${device}%22`,
    `/api/v2/devices/${device.replace('d', '%64')}`,
    `/api/v2/devices/..`,
    `/api/v2/devices/${device}/../${device}`,
    `/api/v2/devices/${device}#part`,
    `http://127.0.0.1/api/v2/devices/${device}`,
    `/api/v2/devices/${'a'.repeat(300)}`,
    `/API/V1/Sensors/${device}/Measurements/s/Value`,
    `/api/v1/domains/x/sensors/${device}`,
    `/api/v2/devices/${device}/sensors/s/values?limit=2`,
    `/api/v2/devices/${device}/sensors/s/value/`,
    `/api/v2/devices/${device}/sensors//value`,
    `/api/v2/devices/${device};x=1`,
    `/api/v2/devices/${device}\xe9`,
    '/healthz',
    '*',
    '',
  ]);

/** One byte is another, there twice, or not there. */
function bent(random: Random, bytes: Buffer): Buffer {
  const at = random.below(bytes.length);
  const signs = ['\r', '\n', '\r\n', ' ', '\t', '\0', ':', '/', '0', '9', 'a', '\x80'];
  const drawn = random.once(2) ? random.bytes(1) : Buffer.from(random.pick(signs), 'latin1');
  const until = at + random.below(2);
  return Buffer.concat([bytes.subarray(0, at), drawn, bytes.subarray(until)]);
}

/** In one piece, in a few, or in a great many. */
function cut(random: Random, bytes: Buffer): readonly Buffer[] {
  const pieces = random.pick([1, 1, 1, 2, 3, 8]);
  if (bytes.length < 400 && random.once(12)) {
    return Array.from(bytes, (_byte, at) => bytes.subarray(at, at + 1));
  }
  const places = Array.from({ length: pieces - 1 }, () => random.below(bytes.length));
  const edges = [0, ...places.toSorted((one, other) => one - other), bytes.length];
  return edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
}
