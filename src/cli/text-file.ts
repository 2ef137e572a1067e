import { createReadStream } from 'node:fs';
import { invalid } from '../domain/errors.ts';
import { createEncodingFinder } from '../lib/text-encoding.ts';

/**
 * The text of a file, in UTF-8, UTF-16 or Windows-1252. Throws invalid for one of more bytes, also
 * where it is a pipe that never ends.
 */
export async function readTextFile(file: string, bytesMax: number): Promise<string> {
  const finder = createEncodingFinder();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of createReadStream(file) as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    if (bytes > bytesMax) {
      throw invalid(`${file} has more than ${bytesMax} bytes: import it in several files`);
    }
    finder.push(piece);
    pieces.push(piece);
  }
  return new TextDecoder(finder.end()).decode(Buffer.concat(pieces));
}
