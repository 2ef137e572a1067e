/** Version 2 of the PROXY protocol: a balancer says first whose connection it is. */
export type ProxyHeader =
  /** Bytes that may begin a header; more of them will decide. */
  | { readonly kind: 'cut off' }
  /** No header: all of these bytes are the client's own. */
  | { readonly kind: 'absent' }
  /** Bytes that begin as a header and are wrong. */
  | { readonly kind: 'malformed' }
  | {
      readonly kind: 'whole';
      /** Of the client; absent: the balancer itself, or a client without an IP address. */
      readonly address?: string;
      /** Where the client's own bytes begin. */
      readonly end: number;
    };

const signature = Uint8Array.of(13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10);
const fixedBytes = 16;
/** Addresses take 36 bytes; what comes behind them says how the client spoke TLS, and the like. */
export const proxyHeaderBytesMax = 2_048;
const local = 0x20;
const proxied = 0x21;
const unknown = 0x00;
const tcpOverIPv4 = 0x11;
const tcpOverIPv6 = 0x21;
/** A path on the balancer's machine: no address of a client. */
const unixStream = 0x31;
const pathsBytes = 216;

/** Reads the header at the beginning of these bytes. Strictly: what is unusual is malformed. */
export function readProxyHeader(bytes: Uint8Array): ProxyHeader {
  for (let at = 0; at < signature.length; at += 1) {
    if (at >= bytes.length) return { kind: 'cut off' };
    if (bytes[at] !== signature[at]) return { kind: 'absent' };
  }
  if (bytes.length < fixedBytes) return { kind: 'cut off' };
  const [command, family] = [bytes[12], bytes[13]];
  const length = (bytes[14] ?? 0) * 256 + (bytes[15] ?? 0);
  const end = fixedBytes + length;
  if (end > proxyHeaderBytesMax || (command !== local && command !== proxied)) {
    return { kind: 'malformed' };
  }
  if (bytes.length < end) return { kind: 'cut off' };
  // A balancer that asks how we are speaks for itself, whatever else it says.
  if (command === local || family === unknown) return { kind: 'whole', end };
  if (family === tcpOverIPv4 && length >= 12) {
    return { kind: 'whole', address: dotted(bytes.subarray(fixedBytes, fixedBytes + 4)), end };
  }
  if (family === tcpOverIPv6 && length >= 36) {
    return { kind: 'whole', address: coloned(bytes.subarray(fixedBytes, fixedBytes + 16)), end };
  }
  return family === unixStream && length >= pathsBytes
    ? { kind: 'whole', end }
    : { kind: 'malformed' };
}

const dotted = (bytes: Uint8Array): string => [...bytes].join('.');

/** The usual text of an address; of one that represents an IPv4 address, the text of that. */
function coloned(bytes: Uint8Array): string {
  const isMapped = bytes.every((byte, at) => at > 11 || byte === (at < 10 ? 0 : 0xff));
  if (isMapped) return dotted(bytes.subarray(12));
  const groups = Array.from({ length: 8 }, (_, at) =>
    ((bytes[2 * at] ?? 0) * 256 + (bytes[2 * at + 1] ?? 0)).toString(16),
  );
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
