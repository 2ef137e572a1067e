import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { invalid } from '../../../src/domain/errors.ts';
import { isJsonObject, JsonError, parseJson } from '../../../src/lib/json.ts';
import type { ExportRecord } from './export-format.ts';

/** Values may be as deep as they were taken, inside of a line. */
const depthMax = 520;

/** Writes lines as gzip of JSON lines, for its owner alone; the file is there when it is whole. */
export async function writeExport(file: string, lines: AsyncIterable<ExportRecord>): Promise<void> {
  const partial = `${file}.partial`;
  async function* texts(): AsyncGenerator<string> {
    for await (const line of lines) yield `${JSON.stringify(line)}\n`;
  }
  // A partial file that a killed export left behind may be accessible to others.
  await rm(partial, { force: true });
  try {
    const target = createWriteStream(partial, { mode: 0o600, flags: 'wx' });
    await pipeline(Readable.from(texts()), createGzip(), target);
    const handle = await open(partial, 'r');
    await handle.sync().finally(() => handle.close());
    await rename(partial, file);
  } finally {
    await rm(partial, { force: true });
  }
}

/** A line holds some thousand values, or one that is long. */
const lineBytesMax = 64 * 1_024 * 1_024;

async function* linesOf(source: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let length = 0;
  let number = 1;
  const add = (part: Buffer): void => {
    length += part.length;
    if (length > lineBytesMax) {
      throw invalid(
        `line ${number} has more than ${lineBytesMax} bytes: no export has such a line`,
      );
    }
    parts.push(part);
  };
  for await (const chunk of source) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      add(chunk.subarray(from, end));
      yield Buffer.concat(parts).toString();
      [parts, length, from] = [[], 0, end + 1];
      number += 1;
    }
    if (from < chunk.length) add(chunk.subarray(from));
  }
  if (length > 0) yield Buffer.concat(parts).toString();
}

/** The lines of such a file, one at a time. Throws invalid for what is none. */
export async function* readExport(file: string): AsyncGenerator<ExportRecord> {
  const source = createReadStream(file);
  const inflated = createGunzip();
  const flow = pipeline(source, inflated);
  // Errors reach the reader of the lines through the loop below; this pipeline ends with it.
  flow.catch(() => undefined);
  // Reading may end before the file does: then no other listener receives this error.
  inflated.on('error', () => undefined);
  try {
    // Every line was written by writeExport: its content is checked by the import.
    for await (const text of linesOf(inflated)) {
      const line = parseJson(text, depthMax);
      if (!isJsonObject(line)) throw new JsonError('an object is expected', 0);
      yield line as unknown as ExportRecord;
    }
    await flow;
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    if (!(cause instanceof JsonError) && !/^Z_|^ERR_/.test(code)) throw cause;
    throw invalid(`${file} is no export of kipimo, or it is damaged`);
  } finally {
    source.destroy();
  }
}
