import { isRecord } from '../../src/lib/record.ts';
import type { Device } from './types.ts';

/** What people note about a device; kept in `meta`, beside whatever else is there. */
export interface DeviceNotes {
  readonly note: string;
  readonly tags: readonly string[];
  /** One sign, such as an emoji. */
  readonly icon: string;
  /** A small picture as a data address. */
  readonly photo: string;
}

/** A photo must leave room for the rest of `meta`. */
export const photoCharactersMax = 48_000;
const photoPattern = /^data:image\/(?:jpeg|png|webp);base64,[A-Za-z0-9+/=]+$/;

/** `meta` of a device as a record; anything else counts as empty. */
export function metaOf({ meta }: Pick<Device, 'meta'>): Readonly<Record<string, unknown>> {
  return isRecord(meta) ? Object.fromEntries(Object.entries(meta)) : {};
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The notes of a device; whatever is not as it should be counts as absent. */
export function notesOf(device: Pick<Device, 'meta'>): DeviceNotes {
  const { note, icon, photo } = metaOf(device);
  const picture = textOf(photo);
  return {
    note: textOf(note),
    tags: tagsOf(device),
    icon: [...textOf(icon)].slice(0, 8).join(''),
    photo: picture.length <= photoCharactersMax && photoPattern.test(picture) ? picture : '',
  };
}

/** The tags of a device. */
export function tagsOf(device: Pick<Device, 'meta'>): readonly string[] {
  const { tags } = metaOf(device);
  return Array.isArray(tags) ? tags.filter((tag): tag is string => typeof tag === 'string') : [];
}
