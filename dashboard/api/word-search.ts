import { tagsOf } from './device-notes.ts';
import type { Device } from './types.ts';

/** Small letters without marks above or below them: "Maïs" is found by "mais". */
const plain = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

/** The words that are looked for. */
export const wordsOf = (text: string): readonly string[] =>
  plain(text)
    .split(/\s+/)
    .filter((word) => word !== '');

/** Devices in which every word is found somewhere, in any order. */
export function withWords(devices: readonly Device[], text: string): readonly Device[] {
  const words = wordsOf(text);
  if (words.length === 0) return devices;
  return devices.filter((device) => {
    const said = saidBy(device);
    return words.every((word) => said.includes(word));
  });
}

/** What a device is known by: its own words, and those of what it measures. */
function saidBy(device: Device): string {
  const { id, name, domain, gateway_id: gateway, owner, sensors, actuators } = device;
  const parts = [...sensors, ...actuators].flatMap((part) => [part.id, part.name]);
  return plain([name, id, domain, gateway, owner, ...tagsOf(device), ...parts].join(' '));
}
