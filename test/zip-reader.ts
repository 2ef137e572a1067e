import { crc32, inflateRawSync } from 'node:zlib';

/** The files of a ZIP archive by the directory at its end. Throws where sizes or sums are wrong. */
export function readZip(bytes: Buffer): ReadonlyMap<string, string> {
  const end = bytes.length - 22;
  expectSignature(bytes, end, 0x0605_4b50);
  const files = new Map<string, string>();
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left -= 1) {
    expectSignature(bytes, at, 0x0201_4b50);
    const nameLength = bytes.readUInt16LE(at + 28);
    const name = bytes.toString('utf8', at + 46, at + 46 + nameLength);
    files.set(name, readFile(bytes, at, name));
    at += 46 + nameLength;
  }
  if (at !== end) throw new Error('the directory does not reach to the end record');
  return files;
}

function readFile(bytes: Buffer, record: number, name: string): string {
  const [checksum, compressed, size] = [16, 20, 24].map((at) => bytes.readUInt32LE(record + at));
  const header = bytes.readUInt32LE(record + 42);
  expectSignature(bytes, header, 0x0403_4b50);
  const start = header + 30 + bytes.readUInt16LE(header + 26);
  const end = start + (compressed ?? 0);
  const content = inflateRawSync(bytes.subarray(start, end));
  const descriptor = [bytes.readUInt32LE(end), bytes.readUInt32LE(end + 4)];
  if (descriptor[0] !== 0x0807_4b50 || descriptor[1] !== checksum) {
    throw new Error(`${name} has no descriptor after it`);
  }
  if (content.length !== size || crc32(content) !== checksum) throw new Error(`${name} is damaged`);
  return content.toString();
}

function expectSignature(bytes: Buffer, at: number, signature: number): void {
  if (bytes.readUInt32LE(at) !== signature) throw new Error(`no record at byte ${at}`);
}
