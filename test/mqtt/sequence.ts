import { connectPackets, type PacketClient } from './packet-client.ts';
import { describePacket, readPayload } from './sequence-payload.ts';

/** What is sent and what must come back, in order. */
export interface Sequence {
  readonly group: string;
  readonly name: string;
  readonly version: number;
  readonly connects: boolean;
  readonly endsClosed: boolean;
  readonly steps: readonly Step[];
}

interface Step {
  readonly type: string;
  readonly payload?: string;
  readonly topic?: string;
  readonly qos?: number;
  readonly retain?: boolean;
}

interface GroupText {
  readonly group: string;
  readonly disable?: boolean;
  readonly ver?: number;
  readonly connect?: boolean;
  readonly expect_disconnect?: boolean;
  readonly tests: readonly (Omit<GroupText, 'tests' | 'group'> & {
    readonly name: string;
    readonly msgs: readonly Step[];
  })[];
}

/** The sequences of one file, disabled groups left out. */
export function sequencesOf(groups: readonly GroupText[]): readonly Sequence[] {
  return groups
    .filter(({ disable }) => disable !== true)
    .flatMap((group) =>
      group.tests.map((test) => ({
        group: group.group,
        name: test.name,
        version: test.ver ?? group.ver ?? 4,
        connects: test.connect ?? group.connect ?? true,
        endsClosed: test.expect_disconnect ?? group.expect_disconnect ?? true,
        steps: test.msgs,
      })),
    );
}

/** Answers what went wrong; undefined: nothing. */
export async function runSequence(sequence: Sequence, port: number): Promise<string | undefined> {
  const client = await connectPackets(port);
  try {
    if (sequence.connects) {
      client.send(connectPacket(`${sequence.group} ${sequence.name}`, sequence.version));
      const fault = await expectPacket(client, 'CONNACK 0');
      if (fault !== undefined) return `the connection: ${fault}`;
    }
    for (const step of sequence.steps) {
      const fault = await runStep(step, client, { port, version: sequence.version });
      if (fault !== undefined) return fault;
    }
    return await checkEnd(client, sequence.endsClosed);
  } catch (error) {
    return String(error);
  } finally {
    client.close();
  }
}

async function runStep(
  step: Step,
  client: PacketClient,
  context: { readonly port: number; readonly version: number },
): Promise<string | undefined> {
  switch (step.type) {
    case 'send':
      client.send(readPayload(step.payload ?? ''));
      return undefined;
    case 'recv':
      return expectPacket(client, describePacket(readPayload(step.payload ?? '')));
    case 'external_publish':
      return publishAsHelper(step, context.port);
    default:
      throw new Error(`the step ${step.type} is not known`);
  }
}

async function expectPacket(client: PacketClient, wanted: string): Promise<string | undefined> {
  const packet = await client.receive();
  const got = packet === undefined ? 'the end' : describePacket(packet);
  return got === wanted ? undefined : `wanted ${wanted}, got ${got}`;
}

async function checkEnd(client: PacketClient, endsClosed: boolean): Promise<string | undefined> {
  if (!endsClosed) {
    client.send(Buffer.from([0xc0, 0]));
    return expectPacket(client, 'PINGRESP');
  }
  const packet = await client.receive();
  return packet === undefined ? undefined : `wanted the end, got ${describePacket(packet)}`;
}

/** A second client publishes, and is answered before the sequence goes on. */
async function publishAsHelper(step: Step, port: number): Promise<string | undefined> {
  const { topic = '', payload = '', qos = 0, retain = false } = step;
  const helper = await connectPackets(port);
  helper.send(connectPacket('helper', 4));
  const fault = await expectPacket(helper, 'CONNACK 0');
  const text = Buffer.from(topic);
  const body = Buffer.concat([
    Buffer.from([text.length >> 8, text.length & 0xff]),
    text,
    ...(qos > 0 ? [Buffer.from([0, 1])] : []),
    Buffer.from(payload),
  ]);
  helper.send(packetOf(0x30 | (qos << 1) | (retain ? 1 : 0), body));
  helper.send(Buffer.from([0xc0, 0]));
  // With QoS 2 the message counts from PUBREC on; the ping is answered last in every case.
  for (let packet = await helper.receive(); ; packet = await helper.receive()) {
    if (packet === undefined || packet[0] === 0xd0) break;
  }
  helper.close();
  return fault;
}

function connectPacket(clientId: string, version: number): Buffer {
  const name = version === 3 ? 'MQIsdp' : 'MQTT';
  const id = Buffer.from(clientId);
  const body = Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([version, 2, 0, 60]),
    ...(version === 5 ? [Buffer.from([0])] : []),
    Buffer.from([id.length >> 8, id.length & 0xff]),
    id,
  ]);
  return packetOf(0x10, body);
}

function packetOf(header: number, body: Buffer): Buffer {
  return Buffer.concat([readPayload(`i${header} r${body.length}`), body]);
}
