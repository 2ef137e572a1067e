import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type FrameLimits, FrameReader } from './frame-reader.ts';
import { ProtocolError, reason } from './packet.ts';

const limits: FrameLimits = {
  packetBytesMax: 200,
  largePacketBytesMax: 2_000,
  bytesMaxOf: (topic) => (topic.endsWith('/values') ? 2_000 : 200),
};

/** A budget whose reserved bytes can be read. */
function roomOf(bytesMax = 10_000) {
  const room = {
    bytes: 0,
    hold(bytes: number) {
      if (bytes > bytesMax) return false;
      room.bytes = bytes;
      return true;
    },
  };
  return room;
}

function readerOf(room = roomOf()) {
  const frames: string[] = [];
  const reader = new FrameReader(limits, room, (header, body) =>
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
  const frames = fc.array(
    fc.tuple(fc.constantFrom(0x10, 0x30, 0x4f, 0x62, 0x70, 0x82, 0xe0), fc.nat(190)),
    {
      maxLength: 8,
    },
  );
  fc.assert(
    fc.property(frames, fc.array(fc.integer({ min: 1, max: 90 })), (list, cuts) => {
      const bytes = Buffer.concat(list.map(([header, length]) => frameOf(header, length)));
      const room = roomOf();
      const { frames: got, reader } = readerOf(room);
      let at = 0;
      for (const cut of cuts) {
        reader.read(Buffer.from(bytes.subarray(at, at + cut)));
        at += cut;
      }
      reader.read(bytes.subarray(at));
      const whole = readerOf();
      whole.reader.read(bytes);
      assert.equal(whole.frames.length, list.length);
      assert.deepEqual(got, whole.frames);
      assert.equal(room.bytes, 0);
    }),
  );
});

test('a packet above the limit is refused from its header, before its body arrives', () => {
  const { reader } = readerOf();
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
  const ours = readerOf();
  const allowed = publish('d/values');
  for (const byte of allowed) ours.reader.read(Buffer.from([byte]));
  assert.equal(ours.frames.length, 1);
  const other = readerOf();
  const refused = publish('d/value');
  assert.equal(
    codeOf(() => {
      for (const byte of refused) other.reader.read(Buffer.from([byte]));
    }),
    reason.packetTooLarge,
  );
});

test('what no client sends is refused from its header, before its body arrives', () => {
  const refused = {
    '00': reason.malformed,
    '20': reason.protocolError,
    '90': reason.protocolError,
    b0: reason.protocolError,
    d0: reason.protocolError,
    c0: reason.malformed,
  };
  for (const [first, code] of Object.entries(refused)) {
    const { reader } = readerOf();
    assert.equal(
      codeOf(() => reader.read(Buffer.from(`${first}05`, 'hex'))),
      code,
      first,
    );
  }
});

test('a length of five bytes, or one longer than necessary, is malformed', () => {
  for (const text of ['30ffffffff01', '308000', '30818000']) {
    const { reader } = readerOf();
    assert.equal(
      codeOf(() => reader.read(Buffer.from(text, 'hex'))),
      reason.malformed,
      text,
    );
  }
});

test('what has arrived counts, not what is announced, and is given back', () => {
  const room = roomOf(1_000);
  const { reader } = readerOf(room);
  const frame = frameOf(0x30, 1_900);
  frame.write('\u0000\u0008d/values', 3);
  reader.read(frame.subarray(0, 100));
  assert.equal(room.bytes, 100);
  reader.read(frame.subarray(100, 990));
  assert.equal(room.bytes, 990);
  assert.equal(
    codeOf(() => reader.read(frame.subarray(990, 1_100))),
    reason.quotaExceeded,
  );
  reader.dispose();
  assert.equal(room.bytes, 0);
});

test('a stopped reader hands on nothing until it is resumed, and then everything in order', () => {
  const frames: number[] = [];
  const reader: FrameReader = new FrameReader(limits, roomOf(), (header) => {
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

test('what follows the last packet in its chunk takes no room', () => {
  for (const cut of [0, 1, 3]) {
    const room = roomOf();
    const reader: FrameReader = new FrameReader(limits, room, () => reader.dispose());
    const bytes = Buffer.concat([frameOf(0xe0, 2), Buffer.alloc(500, 0x30)]);
    reader.read(bytes.subarray(0, cut));
    reader.read(bytes.subarray(cut));
    assert.equal(room.bytes, 0);
  }
});
