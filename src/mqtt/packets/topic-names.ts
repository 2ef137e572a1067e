import { countLevels, isTopicName } from '../../lib/topic-filter.ts';
import { mqttLimits } from '../limits.ts';
import { malformed } from './packet.ts';
import { readText } from './properties.ts';

/** Names of topics that are remembered: each in the place that its bytes hash to. */
const places: (string | undefined)[] = new Array<string | undefined>(4_096).fill(undefined);
/** Longer names are not remembered, so that the memory takes half a megabyte at most. */
const lengthMax = 96;
/** Stands for every name of more levels or bytes than are taken. */
export const longTopic = 'x'.repeat(mqttLimits.topicBytesMax + 1);

/**
 * Reads the name of a topic between two offsets of a packet; '' stands for an alias. Throws
 * malformed: no text of MQTT, or a wildcard [MQTT-3.3.2-2]. Publishers repeat a few names: one that
 * is remembered is compared by its bytes, instead of being decoded, checked and hashed once more.
 */
export function readTopicName(bytes: Buffer, start: number, end: number): string {
  if (end - start > lengthMax) {
    const name = checked(readText(bytes, start, end));
    return end - start > mqttLimits.topicBytesMax ? longTopic : name;
  }
  let hash = 0;
  for (let at = start; at < end; at += 1) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0;
  const place = (hash ^ (hash >>> 12)) & (places.length - 1);
  const known = places[place];
  if (known !== undefined && isSame(known, bytes, start, end)) return known;
  const name = checked(readText(bytes, start, end));
  // Characters of ASCII alone are as many as their bytes.
  if (name.length === end - start) places[place] = name;
  return name;
}

function isSame(name: string, bytes: Buffer, start: number, end: number): boolean {
  if (name.length !== end - start) return false;
  for (let at = start; at < end; at += 1) {
    if (name.charCodeAt(at - start) !== bytes[at]) return false;
  }
  return true;
}

function checked(name: string): string {
  if (name !== '' && !isTopicName(name)) throw malformed('the topic holds a wildcard');
  return countLevels(name) > mqttLimits.topicLevelsMax ? longTopic : name;
}
