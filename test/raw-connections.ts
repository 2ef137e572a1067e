import { connect, type Socket } from 'node:net';

/** Where to connect to. */
export interface Endpoint {
  readonly port: number;
  readonly host: string;
}

/** How a peer leaves: reset, end of its side, or both at once without a word. */
export const leavings: Readonly<Record<string, (socket: Socket) => void>> = {
  RST: (socket) => socket.resetAndDestroy(),
  FIN: (socket) => socket.end(),
  destroy: (socket) => socket.destroy(),
};

const text = (characters: string): Uint8Array => Buffer.from(characters, 'latin1');
const push =
  'POST /api/v2/devices/D/sensors/S/value HTTP/1.1\r\nHost: x\r\nContent-Length: 13\r\n\r\n';
const upgrade =
  'GET /websocket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: mqtt\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
/** MQTT 3.1.1 CONNECT with the client id "a" and a clean session. */
const wholeConnect = text('\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01a');

/** What a peer has said when it stops in the middle, on the port of HTTP. */
export const halves: Readonly<Record<string, Uint8Array>> = {
  nothing: text(''),
  'half a head': text('GET /api/v2/devices HTTP/1.1\r\nHost: x\r\nX-Half: '),
  'half a body': text(
    'POST /api/v2/devices HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
      'Content-Length: 1000\r\n\r\n{"id":',
  ),
  'half a chunk': text(
    'POST /api/v2/devices HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
      'Transfer-Encoding: chunked\r\n\r\n100\r\n{"id":',
  ),
  'half a bulk request': text(
    'POST /api/v2/sensors_data HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\n' +
      'Content-Length: 1000\r\n\r\n{"device_id":"D"}\n{"dev',
  ),
  'a request, then half a one': text(
    'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nHo',
  ),
  'a request alone': text('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'),
  'half a push': text(`${push}{"val`),
  'a push alone': text(`${push}{"value":1.5}`),
  'pushes, then half a head': text(`${push}{"value":1.5}${push}{"value":2.5}${push.slice(0, 60)}`),
  'a push, then half a one': text(`${push}{"value":1.5}${push}{"val`),
  'a device alone': text('GET /api/v2/devices/D HTTP/1.1\r\nHost: x\r\n\r\n'),
  'a device, then another request': text(
    'GET /api/v2/devices/D HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n',
  ),
  'what is no HTTP': text('hello\r\n\r\n'),
  'half a CONNECT': wholeConnect.subarray(0, 7),
  'a CONNECT alone': wholeConnect,
  'half a packet': Buffer.concat([wholeConnect, text('\x30\x7f\x00')]),
  'half a TLS hello': text('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'),
  'half an upgrade': text(upgrade),
  'an upgrade alone': text(`${upgrade}\r\n`),
  'half a WebSocket frame': Buffer.concat([text(`${upgrade}\r\n`), text('\x82\xfe\x01')]),
  'an upgrade that is refused': text(`${upgrade.replace('Version: 13', 'Version: 1')}\r\n`),
};

/** Connects, sends the bytes and stays; what is answered is not read unless `reads`. */
export function openHalf(
  { port, host }: Endpoint,
  bytes: Uint8Array,
  { reads }: { readonly reads: boolean },
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host, allowHalfOpen: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      // The other side may end it at any time; the test looks at the service.
      socket.on('error', () => undefined);
      if (reads) socket.resume();
      if (bytes.length === 0) resolve(socket);
      else socket.write(bytes, () => resolve(socket));
    });
  });
}

/** Resolves when the socket is closed on both sides. */
export function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}
