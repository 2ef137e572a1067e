import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type FrameLimits, FrameReader } from './frame-reader.ts';
import { ProtocolError, reason } from './reason-codes.ts';

const limitsOf = (bytesMax = 10_000): FrameLimits => ({
  packetBytesMax: 200,
  largePacketBytesMax: 2_000,
  isLarge: (topic) => topic.endsWith('/values'),
  room: { usedBytes: 0, bytesMax },
});

function readerOf(limits: FrameLimits) {
  const frames: string[] = [];
  const reader = new FrameReader(limits, (header, body) =>
    frames.push(`${header}:${body.toString('hex')}`),
  );
  return { frames, reader };
}

function frameOf(header: number, length: number): Buffer {
  const head = length < 128 ? [length] : [(length % 128) + 128, Math.floor(length / 128)];
  return Buffer.concat([Buffer.from([header, ...head]), Buffer.alloc(length, header)]);
}

const codeOf = (work: () => void): number | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    assert.ok(error instanceof ProtocolError);
    return error.code;
  }
};

test('however a stream is cut into chunks, the same packets come out and no room is kept', () => {
  const frames = fc.array(fc.tuple(fc.integer({ min: 16, max: 255 }), fc.nat(190)), {
    maxLength: 8,
  });
  fc.assert(
    fc.property(frames, fc.array(fc.integer({ min: 1, max: 90 })), (list, cuts) => {
      const bytes = Buffer.concat(list.map(([header, length]) => frameOf(header, length)));
      const limits = limitsOf();
      const { frames: got, reader } = readerOf(limits);
      let at = 0;
      for (const cut of cuts) {
        reader.read(Buffer.from(bytes.subarray(at, at + cut)));
        at += cut;
      }
      reader.read(bytes.subarray(at));
      const whole = readerOf(limitsOf());
      whole.reader.read(bytes);
      assert.equal(whole.frames.length, list.length);
      assert.deepEqual(got, whole.frames);
      assert.equal(limits.room.usedBytes, 0);
    }),
  );
});

test('a packet above the limit is refused from its header, before its body arrives', () => {
  const { reader } = readerOf(limitsOf());
  const header = frameOf(0x10, 201).subarray(0, 3);
  assert.equal(
    codeOf(() => reader.read(header)),
    reason.packetTooLarge,
  );
});

test('a large publish is admitted on a topic of values only', () => {
  const publish = (topic: string) => {
    const frame = frameOf(0x30, 500);
    frame.writeUInt16BE(topic.length, 3);
    frame.write(topic, 5);
    return frame;
  };
  const ours = readerOf(limitsOf());
  const allowed = publish('d/values');
  for (const byte of allowed) ours.reader.read(Buffer.from([byte]));
  assert.equal(ours.frames.length, 1);
  const other = readerOf(limitsOf());
  const refused = publish('d/value');
  assert.equal(
    codeOf(() => {
      for (const byte of refused) other.reader.read(Buffer.from([byte]));
    }),
    reason.packetTooLarge,
  );
});

test('a length of five bytes, or one longer than necessary, is malformed', () => {
  for (const text of ['30ffffffff01', '308000', '30818000']) {
    const { reader } = readerOf(limitsOf());
    assert.equal(
      codeOf(() => reader.read(Buffer.from(text, 'hex'))),
      reason.malformed,
      text,
    );
  }
});

test('unfinished packets of all connections share one room, which they give back', () => {
  const limits = limitsOf(1_000);
  const first = readerOf(limits).reader;
  first.read(frameOf(0x30, 190).subarray(0, 180));
  const held = limits.room.usedBytes;
  assert.ok(held >= 180);
  const readers = Array.from({ length: 20 }, () => readerOf(limits).reader);
  const codes = readers.map((reader) =>
    codeOf(() => reader.read(frameOf(0x30, 190).subarray(0, 180))),
  );
  assert.ok(codes.includes(reason.busy));
  assert.ok(limits.room.usedBytes <= 1_000);
  for (const reader of [first, ...readers]) reader.dispose();
  assert.equal(limits.room.usedBytes, 0);
});

test('a stopped reader hands on nothing until it is resumed, and then everything in order', () => {
  const frames: number[] = [];
  const reader: FrameReader = new FrameReader(limitsOf(), (header) => {
    frames.push(header);
    reader.stop();
  });
  reader.read(Buffer.concat([frameOf(0x30, 3), frameOf(0x40, 3)]));
  reader.read(frameOf(0x50, 3));
  assert.deepEqual(frames, [0x30]);
  reader.resume();
  assert.deepEqual(frames, [0x30, 0x40]);
  reader.resume();
  assert.deepEqual(frames, [0x30, 0x40, 0x50]);
});
