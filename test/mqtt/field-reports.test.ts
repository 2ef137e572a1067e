import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectSocket, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { generate, type IConnackPacket, type Packet, parser } from 'mqtt-packet';
import { passwordOf, type Service, startService } from '../service.ts';
import { connect, makeDevice } from './mqtt-clients.ts';

let service: Service;

before(async () => {
  service = await startService();
  await makeDevice(service, 'ana', 'yard', { visibility: 'private', sensors: ['t', 'u'] });
  await makeDevice(service, 'ana', 'square', { sensors: ['t'] });
});

after(() => service[Symbol.asyncDispose]());

const topic = 'devices/yard/sensors/t/value';

interface Raw {
  readonly socket: Socket;
  readonly packets: Packet[];
  send(...packets: readonly (Packet | Buffer)[]): void;
  next(cmd: Packet['cmd']): Promise<Packet>;
}

async function openRaw(version: 3 | 4 | 5 = 4, localAddress = '127.0.0.1'): Promise<Raw> {
  const port = Number(new URL(service.mqttUrl).port);
  const socket = connectSocket({ port, host: '127.0.0.1', localAddress });
  const packets: Packet[] = [];
  const reader = parser({ protocolVersion: version });
  reader.on('packet', (packet) => packets.push(packet));
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => void reader.parse(Buffer.from(chunk)));
  await once(socket, 'connect');
  return {
    socket,
    packets,
    send(...list) {
      const bytes = list.map((one) =>
        Buffer.isBuffer(one) ? one : generate(one, { protocolVersion: version }),
      );
      socket.write(Buffer.concat(bytes));
    },
    async next(cmd) {
      for (let left = 500; left > 0; left -= 1) {
        const at = packets.findIndex((one) => one.cmd === cmd);
        if (at >= 0) return packets.splice(at, 1)[0] as Packet;
        await wait(10);
      }
      throw new Error(`no ${cmd} came, but ${JSON.stringify(packets)}`);
    },
  };
}

const hello = (clientId: string, version: 3 | 4 | 5 = 4, password = passwordOf('ana')): Packet => ({
  ...{ cmd: 'connect', clientId, clean: true, keepalive: 60, protocolVersion: version },
  protocolId: version === 3 ? 'MQIsdp' : 'MQTT',
  ...{ username: 'ana', password: Buffer.from(password) },
});

const value = (payload: number, fields: object = {}): Packet =>
  ({
    ...{ cmd: 'publish', topic, payload: `${payload}`, qos: 0, dup: false, retain: false },
    ...fields,
  }) as Packet;

async function stored(): Promise<readonly unknown[]> {
  const { json } = await service.as('ana')({ path: '/devices/yard/sensors/t/values?limit=1000' });
  return (json as { value: unknown }[]).map((one) => one.value);
}

async function untilStored(wanted: number): Promise<boolean> {
  for (let left = 300; left > 0; left -= 1) {
    if ((await stored()).includes(wanted)) return true;
    await wait(10);
  }
  return false;
}

for (const [at, how] of (['goodbye', 'end', 'reset'] as const).entries()) {
  test(`what came with CONNECT counts though its client left meanwhile: ${how}`, async () => {
    const client = await openRaw();
    const goodbye: Packet[] = how === 'goodbye' ? [{ cmd: 'disconnect' } as Packet] : [];
    client.send(hello(`gone-${how}`), value(100 + at), ...goodbye);
    if (how === 'reset') {
      await wait(5);
      client.socket.resetAndDestroy();
    } else client.socket.end();
    assert.ok(await untilStored(100 + at), `stored: ${await stored()}`);
  });
}

test('what came with a wrong password is dropped, though its client left', async () => {
  const client = await openRaw();
  client.send(hello('wrong', 4, 'not her password'), value(150));
  client.socket.end();
  await wait(500);
  assert.ok(!(await stored()).includes(150));
});

for (const [name, version, at] of [
  ['MQIsdp', 3, 8],
  ['MQTT', 4, 6],
  ['MQTT', 5, 6],
] as const) {
  test(`a bridge with ${name} and level ${version} is let in, and hears not itself`, async () => {
    const client = await openRaw(version);
    const packet = generate(hello(`bridge-${version}`, version), { protocolVersion: version });
    packet[packet.indexOf(name) + name.length] = 0x80 | version;
    assert.ok(packet.length > at);
    client.send(packet);
    const answer = await client.next('connack');
    assert.equal(answer.cmd === 'connack' && (answer.reasonCode ?? answer.returnCode), 0);
    client.send({
      ...{ cmd: 'subscribe', messageId: 1 },
      subscriptions: [{ topic: 'devices/yard/#', qos: 1 }],
    } as Packet);
    await client.next('suback');
    client.send(value(200 + version, { qos: 1, messageId: 2 }));
    await client.next('puback');
    const json = { value: 210 + version };
    await service.as('ana')({ method: 'POST', path: '/devices/yard/sensors/t/value', json });
    const heard = await client.next('publish');
    assert.equal(
      heard.cmd === 'publish' && `${heard.payload}`,
      JSON.stringify({ value: 210 + version }),
    );
    client.socket.destroy();
  });
}

test('a session subscribes to thousands of filters, and to 500 in one packet', async () => {
  const client = await openRaw();
  client.send(hello('hub'));
  await client.next('connack');
  for (let round = 0; round < 10; round += 1) {
    const subscriptions = Array.from({ length: 500 }, (_, at) => ({
      ...{ topic: `devices/yard/sensors/s${round * 500 + at}/value`, qos: 1 as const },
    }));
    client.send({ cmd: 'subscribe', messageId: round + 1, subscriptions } as Packet);
    const answer = await client.next('suback');
    assert.ok(answer.cmd === 'suback' && answer.granted.every((code) => code === 1));
  }
  const one = [{ topic: 'devices/yard/x', qos: 1 as const }];
  client.send({ cmd: 'subscribe', messageId: 99, subscriptions: one } as Packet);
  const full = await client.next('suback');
  assert.deepEqual(full.cmd === 'suback' && full.granted, [0x80]);
  client.socket.destroy();
});

test('a stranger clears no retained value of a public device', async () => {
  await using ana = await connect(service, { as: 'ana' });
  await using guest = await connect(service);
  const on = 'devices/square/sensors/t/value';
  await ana.publish(on, { value: 7 }, { qos: 1, retain: true });
  await assert.rejects(guest.publish(on, '', { qos: 1, retain: true }));
  await using late = await connect(service);
  await late.subscribe(on);
  await late.got(1);
  assert.deepEqual(late.texts, [`${on} {"value":7}`]);
  await ana.publish(on, '', { qos: 1, retain: true });
  await using later = await connect(service);
  await later.subscribe(on);
  await ana.publish(on, { value: 8 });
  await later.got(1);
  assert.deepEqual(later.texts, [`${on} {"value":8}`]);
});

test('PUBREC and PUBREL of unknown ids are told so', async () => {
  const client = await openRaw(5);
  client.send(hello('ids', 5));
  await client.next('connack');
  client.send({ cmd: 'pubrec', messageId: 9 } as Packet, { cmd: 'pubrel', messageId: 8 } as Packet);
  for (const cmd of ['pubrel', 'pubcomp'] as const) {
    const answer = await client.next(cmd);
    assert.equal('reasonCode' in answer && answer.reasonCode, 0x92, cmd);
  }
  client.send(value(300, { qos: 2, messageId: 7 }));
  await client.next('pubrec');
  client.send({ cmd: 'pubrel', messageId: 7 } as Packet);
  const known = await client.next('pubcomp');
  assert.equal(('reasonCode' in known ? known.reasonCode : 0) ?? 0, 0);
  client.socket.destroy();
});

test('connections end at once when the password is changed', async () => {
  await service.tokenOf('eve');
  const client = await openRaw(5);
  const login = { ...hello('eves', 5), username: 'eve', password: Buffer.from(passwordOf('eve')) };
  client.send(login as Packet);
  await client.next('connack');
  const json = { old_password: passwordOf('eve'), password: 'another password of eve' };
  const reply = await service.as('eve')({ method: 'PUT', path: '/users/me/password', json });
  const changedAt = performance.now();
  assert.ok(reply.status < 300, reply.text);
  const goodbye = await client.next('disconnect');
  assert.equal('reasonCode' in goodbye && goodbye.reasonCode, 0x87);
  const tookMs = performance.now() - changedAt;
  assert.ok(tookMs < 300, `it took ${tookMs} ms`);
});

for (const qos of [1, 2] as const) {
  test(`what a member of a group left with QoS ${qos} another one gets`, async () => {
    const members: Raw[] = [];
    const filter = `$share/crew${qos}/devices/yard/sensors/u/value`;
    for (const name of ['a', 'b']) {
      const member = await openRaw(5);
      member.send({
        ...hello(`${name}${qos}`, 5),
        properties: { receiveMaximum: 2 },
      } as Packet);
      await member.next('connack');
      const subscriptions = [{ topic: filter, qos }];
      member.send({ cmd: 'subscribe', messageId: 1, subscriptions } as Packet);
      await member.next('suback');
      members.push(member);
    }
    const [quiet, other] = members as [Raw, Raw];
    await using ana = await connect(service, { as: 'ana' });
    for (let sent = 0; sent < 10; sent += 1) {
      await ana.publish('devices/yard/sensors/u/value', { value: `${qos}.${sent}` }, { qos });
    }
    const valuesOf = ({ packets }: Raw): string[] =>
      packets.flatMap((one) => (one.cmd === 'publish' ? JSON.parse(`${one.payload}`).value : []));
    const taken = valuesOf(quiet);
    assert.equal(taken.length, 2);
    quiet.socket.destroy();
    const got = new Set<string>();
    for (let left = 8 + (qos === 1 ? 2 : 0); left > 0; left -= 1) {
      const message = await other.next('publish');
      if (message.cmd !== 'publish') continue;
      got.add(JSON.parse(`${message.payload}`).value);
      const messageId = message.messageId ?? 0;
      other.send({ cmd: qos === 1 ? 'puback' : 'pubrec', messageId } as Packet);
      if (qos === 2) {
        await other.next('pubrel');
        other.send({ cmd: 'pubcomp', messageId } as Packet);
      }
    }
    // QoS 2 that was sent to the first one is for nobody else [MQTT-4.8.2-5].
    const all = Array.from({ length: 10 }, (_, at) => `${qos}.${at}`);
    const expected = qos === 1 ? all : all.filter((one) => !taken.includes(one));
    assert.deepEqual([...got].sort(), expected);
    other.socket.destroy();
  });
}

test('a guest takes over no session of a guest at another address', async () => {
  const guest = { ...hello('node-1'), username: undefined, password: undefined, clean: false };
  const known = await openRaw(4, '127.0.0.9');
  known.send(guest as Packet);
  assert.equal(((await known.next('connack')) as IConnackPacket).returnCode, 0);
  const stranger = await openRaw(4, '127.0.0.10');
  stranger.send(guest as Packet);
  const { returnCode, sessionPresent } = (await stranger.next('connack')) as IConnackPacket;
  assert.deepEqual([returnCode, sessionPresent], [0, false]);
  known.send({ cmd: 'pingreq' });
  await known.next('pingresp');
  const again = await openRaw(4, '127.0.0.9');
  again.send(guest as Packet);
  assert.equal(((await again.next('connack')) as IConnackPacket).sessionPresent, true);
  for (const { socket } of [known, stranger, again]) socket.destroy();
});
