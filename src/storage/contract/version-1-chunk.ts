import { crc32 } from 'node:zlib';
import {
  createSink,
  putByte,
  putBytes,
  putText,
  putUint32,
  putVarint,
  writtenBytes,
} from '../chunks/bytes.ts';
import type { Columns } from '../chunks/columns.ts';
import { putDoubles } from '../chunks/doubles.ts';
import { putFlags } from '../chunks/flags.ts';

/** A chunk of version 1, as services of before wrote it, but for its compression. */
export function encodeVersion1(columns: Columns): Buffer {
  const { count, times, received, timed, numbers, texts } = columns;
  const body = createSink(count * 24 + 64);
  putByte(body, 0);
  putDoubles(body, times);
  putFlags(body, timed);
  putByte(body, 0);
  putDoubles(body, received);
  const isText = Uint8Array.from({ length: count }, (_, row) => (texts?.[row] ? 1 : 0));
  putFlags(body, isText);
  putByte(body, 0);
  putDoubles(
    body,
    numbers.filter((_, row) => isText[row] === 0),
  );
  for (const text of texts ?? []) if (text !== undefined) putText(body, text);
  const rest = createSink(body.length + 16);
  putVarint(rest, count);
  putVarint(rest, body.length);
  putBytes(rest, writtenBytes(body));
  const sink = createSink(rest.length + 6);
  putByte(sink, 1);
  putByte(sink, 0);
  putUint32(sink, crc32(writtenBytes(rest)));
  putBytes(sink, writtenBytes(rest));
  return writtenBytes(sink);
}
