import type { History, Read, Received, Sent, Subscription } from './history.ts';

/** How long after the answer of a revocation something may still arrive. */
const revocationMsMax = 1_000;
/** How long two connections of one client id may be there together. */
const takeoverMsMax = 1_000;
/** A repetition after each of two crashes would need two crashes within one delivery. */
const messageTimesMax = 2;
/** Clocks of processes on one machine are one; timers of throttling are not that exact. */
const windowSlackMs = 50;

/**
 * What of a history no right service can have done, each in a sentence, what is lost first. Nothing
 * but the history is asked: what was acknowledged, what was refused, what nobody knows of.
 */
export function checkHistory(history: History): readonly string[] {
  return [
    ...history.stored.flatMap((read) => checkStored(history, read)),
    ...checkSame(history),
    ...checkReads(history),
    ...history.subscriptions.flatMap((one) => checkDelivered(history, one)),
    ...checkRules(history),
    ...checkRevocations(history),
    ...checkConnected(history),
    ...checkWills(history),
    ...history.oddities,
  ];
}

const bySensor = <One extends { readonly sensor: string }>(all: readonly One[]) =>
  Map.groupBy(all, ({ sensor }) => sensor);

const seconds = (ms: number): string => (ms / 1_000).toFixed(2);

const spanOf = ({ sentAt, answeredAt }: Sent): string =>
  `sent at ${seconds(sentAt)} s and acknowledged at ${seconds(answeredAt)} s`;

function timesOf(marks: readonly string[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const mark of marks) times.set(mark, (times.get(mark) ?? 0) + 1);
  return times;
}

/** Acknowledged ⊆ stored ⊆ acknowledged ∪ unknown; what can be told apart is there once. */
function checkStored({ sent }: History, { at, sensor, marks }: Read): readonly string[] {
  const complaints: string[] = [];
  const times = timesOf(marks);
  const known = new Map<string, Sent>();
  for (const one of sent) if (one.sensor === sensor) known.set(one.mark, one);
  for (const one of known.values()) {
    const count = times.get(one.mark) ?? 0;
    if (one.outcome === 'acknowledged' && count === 0) {
      complaints.push(`${at}: ${one.mark} is lost, ${spanOf(one)}`);
    }
    if (one.outcome === 'refused' && count > 0) {
      complaints.push(`${at}: ${one.mark} was refused and is stored`);
    }
    // What a client without timestamps sends again is a new value to everybody, but with QoS 2.
    const countMax = one.isTimed || one.qos === 2 ? 1 : one.sends;
    if (count > countMax) complaints.push(`${at}: ${one.mark} is stored ${count} times`);
  }
  for (const mark of times.keys()) {
    if (!known.has(mark)) complaints.push(`${at}: ${mark} is stored and nobody sent it`);
  }
  return [...complaints, ...checkStoredOrder(at, marks, known)];
}

/** Values without timestamps of one client stand in the order in which they were answered. */
function checkStoredOrder(
  at: string,
  marks: readonly string[],
  known: ReadonlyMap<string, Sent>,
): readonly string[] {
  const complaints: string[] = [];
  const last = new Map<string, Sent>();
  for (const mark of marks) {
    const one = known.get(mark);
    // Sent again, or never answered: it may have come later than the next one.
    if (one === undefined || one.isTimed || one.sends > 1 || one.outcome !== 'acknowledged')
      continue;
    const before = last.get(one.by);
    if (before !== undefined && before.sentAt > one.answeredAt) {
      complaints.push(`${at}: ${one.mark} stands behind ${before.mark}, which was sent later`);
    }
    last.set(one.by, one);
  }
  return complaints;
}

/** All processes show the same at the end. */
function checkSame({ stored }: History): readonly string[] {
  return [...bySensor(stored)].flatMap(([sensor, [first, ...others]]) =>
    others
      .filter(({ marks }) => JSON.stringify(marks) !== JSON.stringify(first?.marks))
      .map(({ at }) => `${at} and ${first?.at} show different values of ${sensor}`),
  );
}

/** A read begun after an acknowledgement, at any process, shows it. */
function checkReads({ sent, reads }: History): readonly string[] {
  const complaints: string[] = [];
  const sentTo = bySensor(sent);
  for (const { at, sensor, beganAt, marks } of reads) {
    const shown = new Set(marks);
    for (const one of sentTo.get(sensor) ?? []) {
      if (one.outcome !== 'acknowledged' || one.answeredAt >= beganAt || shown.has(one.mark))
        continue;
      complaints.push(`${at}: a read of ${sensor} did not show ${one.mark}, acknowledged before`);
    }
  }
  return complaints;
}

/** At least once, in the order of each publisher; with QoS 2 on both sides exactly once. */
function checkDelivered(history: History, subscription: Subscription): readonly string[] {
  const { session, sensors, from, until, qos } = subscription;
  const members = subscription.members ?? new Set([session]);
  const complaints: string[] = [];
  const received = history.received.filter((one) => members.has(one.session));
  const times = timesOf(received.map(({ mark }) => mark));
  const sent = history.sent.filter((one) => sensors.has(one.sensor));
  for (const one of sent) {
    const count = times.get(one.mark) ?? 0;
    // What is pushed over HTTP comes with QoS 0.
    const isDue = one.qos !== undefined && one.sentAt > from && one.answeredAt < until;
    if (isDue && one.outcome === 'acknowledged' && count === 0) {
      complaints.push(`${session} never got ${one.mark}, ${spanOf(one)}`);
    }
    if (one.outcome === 'refused' && count > 0) {
      complaints.push(`${session} got ${one.mark}, which was refused`);
    }
    // A publisher that had to send again without a timestamp may have made two messages.
    const countMax = qos === 2 && one.qos === 2 ? one.sends : Number.POSITIVE_INFINITY;
    if (count > countMax) {
      const copies = received.filter(({ mark }) => mark === one.mark).map(copyOf);
      complaints.push(`${session} got ${one.mark} ${count} times: ${copies.join(', ')}`);
    }
  }
  const known = new Map(sent.map((one) => [one.mark, one]));
  for (const mark of times.keys()) {
    if (!known.has(mark)) complaints.push(`${session} got ${mark}, which nobody sent`);
  }
  return [
    ...complaints,
    ...[...Map.groupBy(received, (one) => one.session)].flatMap(([member, own]) => [
      // What one member did not get another one gets later [MQTT5 4.6].
      ...(subscription.members === undefined ? checkOrder(member, own, known) : []),
      ...checkRepeats(
        member,
        own.filter(({ mark }) => known.get(mark)?.sends === 1),
      ),
    ]),
  ];
}

/** What comes for the first time comes in the order in which its client sent it. */
function checkOrder(
  session: string,
  received: readonly Received[],
  known: ReadonlyMap<string, Sent>,
): readonly string[] {
  const complaints: string[] = [];
  const last = new Map<string, Sent>();
  const seen = new Set<string>();
  for (const { mark } of received) {
    const one = known.get(mark);
    // What was never answered may have been taken late, and be sent again.
    if (one === undefined || seen.has(mark)) continue;
    seen.add(mark);
    if (one.sends > 1 || one.outcome !== 'acknowledged') continue;
    const key = `${one.by} ${one.sensor}`;
    const before = last.get(key);
    if (before !== undefined && before.place > one.place) {
      complaints.push(`${session} got ${mark} after ${before.mark}, ${spanOf(one)}`);
    }
    last.set(key, one);
  }
  return complaints;
}

/** Of what was published once, a second copy says that it may be one. */
function checkRepeats(session: string, received: readonly Received[]): readonly string[] {
  const seen = new Map<string, Received>();
  return received.flatMap((copy) => {
    const { mark, isDuplicate } = copy;
    const first = seen.get(mark);
    seen.set(mark, first ?? copy);
    return first !== undefined && !isDuplicate && session.startsWith('group')
      ? [`${session} got ${mark} twice, without DUP: ${copyOf(first)}, ${copyOf(copy)}`]
      : [];
  });
}

const copyOf = ({ session, at }: Received): string => `${session} at ${seconds(at)} s`;

/** An acknowledged crossing has its delivery; one firing per window; each sent at most twice. */
function checkRules({ rules, sent, messages }: History): readonly string[] {
  return rules.flatMap(({ name, sensor, windowMs, deliveries }) => {
    const complaints: string[] = [];
    const own = messages.filter(({ rule }) => rule === name);
    for (const [id, copies] of Map.groupBy(own, (message) => message.id)) {
      if (copies.length > messageTimesMax) {
        complaints.push(`${name}: the message ${id} came ${copies.length} times`);
      }
    }
    const values = sent.filter((one) => one.sensor === sensor);
    const times = timesOf(deliveries);
    for (const one of values) {
      const count = times.get(one.mark) ?? 0;
      if (windowMs === 0 && one.outcome === 'acknowledged' && count === 0) {
        complaints.push(`${name}: ${one.mark} was acknowledged and has no delivery`);
      }
      if (count > (one.isTimed ? 1 : one.sends)) {
        complaints.push(`${name}: ${one.mark} fired ${count} times`);
      }
    }
    return [...complaints, ...checkWindow(name, windowMs, own)];
  });
}

function checkWindow(name: string, windowMs: number, messages: History['messages']) {
  const firings = [...new Map(messages.map((one) => [one.id, one])).values()];
  const created = firings.map((one) => one.created).sort((a, b) => a - b);
  return created.flatMap((at, index) => {
    const before = created[index - 1];
    return before !== undefined && at - before < windowMs - windowSlackMs
      ? [`${name}: fired twice within ${at - before} ms`]
      : [];
  });
}

/** Nothing is delivered later than a moment after the answer of a revocation. */
function checkRevocations({ revocations, received }: History): readonly string[] {
  return revocations.flatMap(({ sessions, sensors, answeredAt, until }) =>
    received
      .filter((one) => sessions.has(one.session) && sensors.has(one.sensor))
      .filter(({ at }) => at > answeredAt + revocationMsMax && at < until)
      .map(
        ({ session, mark, at }) =>
          `${session}: got ${mark} ${Math.round(at - answeredAt)} ms after it may`,
      ),
  );
}

/** At most one connection for each client id, but for a moment. */
function checkConnected({ connected }: History): readonly string[] {
  return [...Map.groupBy(connected, ({ client }) => client)].flatMap(([client, links]) =>
    links.flatMap((link, index) =>
      links
        .slice(index + 1)
        .filter((next) => Math.min(link.until, next.until) - next.from > takeoverMsMax)
        .map(() => `${client} was connected twice at once`),
    ),
  );
}

/** One will for each death. */
function checkWills({ deaths }: History): readonly string[] {
  return deaths
    .filter(({ wills }) => wills !== 1)
    .map(({ client, wills, copies = [] }) =>
      [`the will of ${client} came ${wills} times`, ...copies].join('; '),
    );
}
