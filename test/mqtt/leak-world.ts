import assert from 'node:assert/strict';
import { createRightsWorld, type RightsWorld } from '../v2/rights-world.ts';
import { owner } from '../v2/route-rights.ts';
import type { Kind, Moment, Receiver, TopicOwner } from './leak-oracle.ts';
import { type Client, type ClientOptions, connect } from './mqtt-clients.ts';

/** One message that was sent, and where it comes out. */
export interface Sent {
  readonly mark: string;
  readonly kind: Kind;
  readonly place: TopicOwner;
  readonly topic: string;
  /** With QoS 0 it does not wait for clients that are away. */
  readonly isKept: boolean;
}

/** The ways a message takes. */
export type Way = 'http' | 'mqtt' | 'will' | 'retained';

export const versions = [4, 5] as const;
export type Version = (typeof versions)[number];

/** Everybody and everything that the matrix of deliveries is about. */
export interface LeakWorld extends AsyncDisposable {
  readonly rights: RightsWorld;
  readonly receivers: readonly Receiver[];
  readonly places: readonly TopicOwner[];
  connect(receiver: Receiver, version: Version, options?: ClientOptions): Promise<Client>;
  /** Sends about every place by the given ways; answers all that may come out. */
  wave(ways: readonly Way[]): Promise<readonly Sent[]>;
  /** Sends what comes last; each receiver may get one of them, but for the narrowest keys. */
  sentinels(options?: { readonly retain?: boolean }): Promise<readonly Sent[]>;
  /** Changes the visibility and the grants. */
  enter(moment: Moment): Promise<void>;
}

const gateways: readonly TopicOwner[] = [
  { id: 'gw-private', owner, isPrivate: true, isGateway: true },
  { id: 'gw-public', owner, isPrivate: false, isGateway: true },
  { id: 'gw-guest', owner: 'guest', isPrivate: false, isGateway: true },
];

export const topicOf = (kind: Kind, { id }: TopicOwner): string =>
  ({
    value: `devices/${id}/sensors/TC1/value`,
    values: `devices/${id}/sensors/TC1/values`,
    actuator: `devices/${id}/actuators/pump/value`,
    free: `devices/${id}/free/talk`,
    gateway: `gateways/${id}/talk`,
  })[kind];

const kindsOf = (place: TopicOwner): readonly Kind[] =>
  place.isGateway === true ? ['gateway'] : ['value', 'values', 'actuator', 'free'];

/** Every topic there is something to be seen on. */
export const topicsOf = (places: readonly TopicOwner[]): readonly string[] =>
  places.flatMap((place) => kindsOf(place).map((kind) => topicOf(kind, place)));

/** The mark in a payload, whatever it is wrapped in. */
export const markIn = (payload: string): string => /m\d+/.exec(payload)?.[0] ?? payload;

const payloadOf = (kind: Kind, mark: string): string => {
  if (kind === 'value') return JSON.stringify({ value: mark });
  if (kind === 'values') return JSON.stringify([{ value: mark }]);
  return kind === 'actuator' ? JSON.stringify(mark) : mark;
};

const isLoud = (username: string | undefined): boolean => username === 'grantee-all';

export async function createLeakWorld(): Promise<LeakWorld> {
  const rights = await createRightsWorld('open');
  const { service } = rights;
  const receivers = rights.askers.map((asker) => ({
    ...asker,
    ...(isLoud(asker.username) && { mayUpdateGateways: true }),
  }));
  const places: readonly TopicOwner[] = [...rights.devices, ...gateways];
  for (const { id, owner: username, isPrivate } of gateways) {
    const json = { id, visibility: isPrivate ? 'private' : 'public' };
    await service.as(username)({ method: 'POST', path: '/gateways', json });
    if (username === 'guest') continue;
    const path = `/gateways/${id}/grants/grantee-all`;
    await service.as(username)({ method: 'PUT', path, json: ['gateways:update'] });
  }
  const connectAs: LeakWorld['connect'] = (receiver, protocolVersion, options = {}) => {
    const asker = rights.askers.find(({ name }) => name === receiver.name);
    const password = asker === undefined ? undefined : rights.tokenOf(asker);
    const login = password === undefined ? {} : { username: 'any', password };
    return connect(service, { protocolVersion, ...login, ...options });
  };
  const sender = await connect(service, { as: 'admin' });
  return {
    ...{ rights, receivers, places, connect: connectAs },
    ...createSending(rights, sender, places),
    enter: (moment) => enter(rights, moment),
    async [Symbol.asyncDispose]() {
      await sender[Symbol.asyncDispose]();
      await rights[Symbol.asyncDispose]();
    },
  };
}

function createSending(
  { service }: RightsWorld,
  sender: Client,
  places: readonly TopicOwner[],
): Pick<LeakWorld, 'wave' | 'sentinels'> {
  let count = 0;
  const nextMark = () => {
    count += 1;
    return `m${count}`;
  };

  /** What comes out: an array is also seen as its elements, and an element as an array. */
  function outcomes(kind: Kind, place: TopicOwner, mark: string, isKept = true): readonly Sent[] {
    const kinds: readonly Kind[] =
      kind === 'value' || kind === 'values' ? ['value', 'values'] : [kind];
    return kinds.map((one) => ({ mark, kind: one, place, topic: topicOf(one, place), isKept }));
  }

  async function byHttp(kind: Kind, place: TopicOwner): Promise<readonly Sent[]> {
    if (kind === 'free' || kind === 'gateway') return [];
    const mark = nextMark();
    const method = kind === 'actuator' ? 'PUT' : 'POST';
    const json: unknown = JSON.parse(payloadOf(kind, mark));
    const path = `/${topicOf(kind, place)}`;
    const reply = await service.as('admin')({ method, path, json });
    assert.equal(reply.status, 204, reply.text);
    return outcomes(kind, place, mark, false);
  }

  async function byMqtt(kind: Kind, place: TopicOwner, retain: boolean): Promise<readonly Sent[]> {
    const mark = nextMark();
    await sender.publish(topicOf(kind, place), payloadOf(kind, mark), { qos: 1, retain });
    return outcomes(kind, place, mark);
  }

  async function byWill(kind: Kind, place: TopicOwner): Promise<readonly Sent[]> {
    const mark = nextMark();
    const topic = topicOf(kind, place);
    // Its neighbour sees that it came out, so that the wave has an end. Both come with a token, as
    // a password takes a hundred times as long to look at.
    const login = { username: 'any', password: await service.tokenOf('admin') };
    await using witness = await connect(service, login);
    await witness.subscribe(topic);
    const payload = Buffer.from(payloadOf(kind, mark));
    const dying = await connect(service, {
      ...login,
      will: { topic, payload, qos: 1, retain: false },
    });
    dying.mqtt.stream.destroy();
    await witness.got(1);
    return outcomes(kind, place, mark);
  }

  const send: Readonly<Record<Way, (kind: Kind, place: TopicOwner) => Promise<readonly Sent[]>>> = {
    http: byHttp,
    mqtt: (kind, place) => byMqtt(kind, place, false),
    retained: (kind, place) => byMqtt(kind, place, true),
    will: byWill,
  };

  return {
    async wave(ways) {
      const sent: Sent[] = [];
      for (const place of places) {
        for (const kind of kindsOf(place)) {
          for (const way of ways) {
            // What is retained of an array is its last element, as of a value.
            if (way === 'retained' && kind === 'values') continue;
            sent.push(...(await send[way](kind, place)));
          }
        }
      }
      return sent;
    },
    async sentinels({ retain = false } = {}) {
      const sent: Sent[] = [];
      for (const id of ['elsewhere', 'guest-public']) {
        const place = places.find((one) => one.id === id);
        assert.ok(place !== undefined);
        for (const kind of ['free', 'value'] as const) {
          sent.push(...(await byMqtt(kind, place, retain)));
        }
      }
      return sent;
    },
  };
}

/** Whom a grant is to. */
interface Grantee {
  readonly username?: string;
  readonly group?: string;
}

async function enter({ service }: RightsWorld, moment: Moment): Promise<void> {
  const asOwner = service.as(owner);
  const visibility = async (id: string, body: string) => {
    const kind = id.startsWith('gw-') ? 'gateways' : 'devices';
    const reply = await asOwner({ method: 'PUT', path: `/${kind}/${id}/visibility`, body });
    assert.equal(reply.status, 204, reply.text);
  };
  for (const id of moment.hidden) await visibility(id, 'private');
  for (const id of moment.shown) await visibility(id, 'public');
  for (const id of moment.revoked) {
    const kind = id.startsWith('gw-') ? 'gateways' : 'devices';
    const grants = await asOwner({ path: `/${kind}/${id}/grants` });
    for (const { username, group } of grants.json as readonly Grantee[]) {
      const path = `/${kind}/${id}/grants/${username ?? `groups/${group}`}`;
      assert.equal((await asOwner({ method: 'DELETE', path })).status, 204);
    }
    const projects = await asOwner({ path: '/projects' });
    for (const project of projects.json as readonly { id: string; device_ids: string[] }[]) {
      const json = project.device_ids.filter((listed) => listed !== id);
      const path = `/projects/${project.id}/device_ids`;
      assert.equal((await asOwner({ method: 'PUT', path, json })).status, 204);
    }
  }
}
