import { isUtf8 } from 'node:buffer';
import { malformed } from './packet.ts';

/** Reads the fields of one packet in order; what is not there, or ill-formed, throws malformed. */
export class ByteReader {
  readonly bytes: Buffer;
  offset: number;
  readonly end: number;

  constructor(bytes: Buffer, offset = 0, end = bytes.length) {
    this.bytes = bytes;
    this.offset = offset;
    this.end = end;
  }

  get isAtEnd(): boolean {
    return this.offset >= this.end;
  }

  byte(): number {
    return this.bytes[this.take(1)] ?? 0;
  }

  twoBytes(): number {
    return this.bytes.readUInt16BE(this.take(2));
  }

  fourBytes(): number {
    return this.bytes.readUInt32BE(this.take(4));
  }

  /** A variable byte integer, in its shortest form [MQTT-1.5.5-1]. */
  variableInteger(): number {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) {
        if (byte === 0 && shift > 0) throw malformed('a length is longer than necessary');
        return value;
      }
    }
    throw malformed('a length has more than four bytes');
  }

  /** The bytes themselves, not copied. */
  binary(): Buffer {
    const length = this.twoBytes();
    const start = this.take(length);
    return this.bytes.subarray(start, start + length);
  }

  text(): string {
    const length = this.twoBytes();
    const start = this.take(length);
    return readText(this.bytes, start, start + length);
  }

  /** Passes over a text without reading it. */
  skipText(): void {
    this.take(this.twoBytes());
  }

  rest(): Buffer {
    const start = this.offset;
    this.offset = this.end;
    return this.bytes.subarray(start, this.end);
  }

  requireEnd(): void {
    if (!this.isAtEnd) throw malformed('the packet is longer than its fields');
  }

  private take(length: number): number {
    const start = this.offset;
    if (start + length > this.end) throw malformed('the packet is shorter than its fields');
    this.offset = start + length;
    return start;
  }
}

/**
 * Text of a packet. Ill-formed UTF-8, surrogates and U+0000 are malformed [MQTT-1.5.4-1, -2];
 * control characters and non-characters, which the standard lets a receiver refuse, are as well.
 */
export function readText(bytes: Buffer, start: number, end: number): string {
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x7f) return readWideText(bytes.subarray(start, end));
    if (byte < 0x20) throw malformed('a text holds a control character');
  }
  return bytes.toString('latin1', start, end);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are refused
const unwanted = /[\u0000-\u001f\u007f-\u009f\ufdd0-\ufdef\ufffe\uffff]/;
function readWideText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw malformed('a text is not UTF-8');
  const text = bytes.toString();
  if (unwanted.test(text) || holdsPlaneEnd(text)) {
    throw malformed('a text holds a control character or a non-character');
  }
  return text;
}

/** U+1FFFE, U+1FFFF and so on: the last two of each plane are no characters. */
function holdsPlaneEnd(text: string): boolean {
  for (const char of text) if (((char.codePointAt(0) ?? 0) & 0xfffe) === 0xfffe) return true;
  return false;
}
