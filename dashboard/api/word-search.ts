import { tagsOf } from './device-notes.ts';
import type { Device, Sensor } from './types.ts';

/** Small letters without marks above or below them: "Maïs" is found by "mais". */
export const plain = (text: string): string =>
  text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

/** The words that are looked for. */
export const wordsOf = (text: string): readonly string[] =>
  plain(text)
    .split(/\s+/)
    .filter((word) => word !== '');

type NameOf = (part: Pick<Sensor, 'id' | 'name'>) => string | undefined;

/** Devices in which every word is found somewhere, in any order. */
export function withWords(
  devices: readonly Device[],
  text: string,
  nameOf: NameOf = ({ name }) => name,
): readonly Device[] {
  const words = wordsOf(text);
  if (words.length === 0) return devices;
  return devices.filter((device) => {
    const said = saidBy(device, nameOf);
    return words.every((word) => said.includes(word));
  });
}

/** What a device is known by: its own words, and those of what it measures. */
function saidBy(device: Device, nameOf: NameOf): string {
  const { id, name, domain, gateway_id: gateway, owner, sensors, actuators } = device;
  const parts = [...sensors, ...actuators].flatMap((part) => [part.id, part.name, nameOf(part)]);
  return plain([name, id, domain, gateway, owner, ...tagsOf(device), ...parts].join(' '));
}
