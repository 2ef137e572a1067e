import type { DropReason } from '../broker.ts';
import { mqttLimits } from '../limits.ts';
import { packetType } from '../packets/packet.ts';
import { writeAcknowledgement } from '../packets/packet-encoder.ts';
import type { PublishFrame } from '../packets/publish-encoder.ts';
import { encodeFor } from './delivery.ts';
import { type QueueContext, settleEntry } from './queue-entries.ts';
import type { Entry, Link, Session } from './session.ts';

/** Whether the client reads slower than messages come. */
export function isCongested({ writer }: Link): boolean {
  return writer.waitingBytes > mqttLimits.socketBufferBytesMax;
}

/** Whether one more QoS 1 or 2 message may be under way to the client. */
export function mayTransmit(session: Session, link: Link): boolean {
  return session.inFlight < link.inFlightMax && !isCongested(link);
}

export function hasWaiting({ waiting, waitingFrom }: Session): boolean {
  return waiting !== undefined && waitingFrom < waiting.length;
}

/** Sends the packet of an entry, or drops it where the client takes none so large. */
export function transmit(
  context: QueueContext,
  session: Session,
  {
    link,
    entry,
    frame,
  }: { readonly link: Link; readonly entry: Entry; readonly frame: PublishFrame },
): void {
  if (frame.size > link.packetBytesMax) {
    drop(context, session, entry, 'too_large');
    return;
  }
  const at = link.writer.reserve(frame.head.length);
  const page = link.writer.page();
  frame.head.copy(page, at);
  if (entry.wasSent) page[at] = (page[at] ?? 0) | 8;
  page.writeUInt16BE(entry.packetId, at + frame.idOffset);
  if (frame.payload !== undefined) link.writer.write(frame.payload);
  entry.wasSent = true;
  markInFlight(session, entry);
  context.counters.messagesSent += 1;
}

/** PUBREL: the client may forget the packet id. */
export function release({ writer, version }: Link, packetId: number, reasonCode = 0): void {
  writeAcknowledgement(writer, { type: packetType.pubrel, packetId, reasonCode, version });
}

/** Sends what waits, as far as the window and the buffer allow. */
export function pump(context: QueueContext, session: Session): void {
  const { link } = session;
  if (link === undefined || session.waiting === undefined) return;
  while (!session.isAsking && hasWaiting(session) && mayTransmit(session, link)) {
    const entry = session.waiting[session.waitingFrom];
    if (entry === undefined || !entry.isOnDisk) break;
    session.waitingFrom += 1;
    sendIfAllowed(context, session, { link, entry });
  }
  trimWaiting(session);
}

/** Rights may have gone since it was queued [contract 8]. */
function sendIfAllowed(
  context: QueueContext,
  session: Session,
  { link, entry }: { readonly link: Link; readonly entry: Entry },
): void {
  const { parcel, packetId } = entry;
  if (parcel === undefined) {
    markInFlight(session, entry);
    release(link, packetId);
    return;
  }
  const { message } = parcel;
  const finish = (isAllowed: boolean): void => {
    const now = context.clock.now();
    const isExpired = message.expiresAt !== undefined && message.expiresAt <= now;
    if (!isAllowed) drop(context, session, entry, 'not_allowed');
    else if (isExpired) drop(context, session, entry, 'expired');
    else transmit(context, session, { link, entry, frame: encodeFor(link, message, entry, now) });
  };
  const verdict = link.client.tryReceive(message.topic);
  if (verdict !== 'unknown') {
    finish(verdict === 'yes');
    return;
  }
  session.isAsking = true;
  void mayReceive(session, link, message.topic).then((isAllowed) => {
    session.isAsking = false;
    // Over a new connection everything was queued again.
    if (session.link === link) finish(isAllowed);
    pump(context, session);
  });
}

/** Asks until the store can say, as long as the connection lasts; never rejects. */
async function mayReceive(session: Session, link: Link, topic: string): Promise<boolean> {
  while (session.link === link) {
    try {
      return await link.client.mayReceive(topic);
    } catch {
      await new Promise((resolve) => setTimeout(resolve, mqttLimits.storeRetryMs).unref());
    }
  }
  return false;
}

function markInFlight(session: Session, entry: Entry): void {
  entry.isInFlight = true;
  session.inFlight += 1;
}

function drop(context: QueueContext, session: Session, entry: Entry, why: DropReason): void {
  const { counters } = context;
  counters.dropped[why] += 1;
  settleEntry(context, session, entry);
}

function trimWaiting(session: Session): void {
  const { waiting, waitingFrom } = session;
  if (waiting === undefined || waitingFrom === 0) return;
  if (waitingFrom >= waiting.length) session.waiting = undefined;
  else if (waitingFrom < 256) return;
  else session.waiting = waiting.slice(waitingFrom);
  session.waitingFrom = 0;
}
