import type { IncomingMessage } from 'node:http';
import { limits } from '../domain/limits.ts';

/**
 * Ends the connection of a request whose body comes in chunks of a byte or so [RFC 9112, 7.1]: a
 * few bytes on the network would be an object each, and hours of work for who reads them.
 */
export function refuseTinyChunks(request: IncomingMessage): void {
  let chunks = 0;
  let bytes = 0;
  // The parser hands each chunk over here, whether anybody reads the body or not.
  request.push = function push(chunk: Uint8Array | null, encoding?: BufferEncoding): boolean {
    if (chunk !== null) {
      chunks += 1;
      bytes += chunk.length;
      if (chunks > limits.tinyChunksMax + bytes / limits.chunkBytesUsual) {
        request.socket.destroy();
        return false;
      }
    }
    return Object.getPrototypeOf(request).push.call(request, chunk, encoding);
  };
}
