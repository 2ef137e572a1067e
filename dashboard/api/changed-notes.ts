import { type DeviceNotes, metaOf } from './device-notes.ts';
import type { Device } from './types.ts';

/** Tags as they are typed: with commas, each once. */
export function tagsIn(text: string): readonly string[] {
  return [
    ...new Set(
      text
        .split(/[,;]/)
        .map((tag) => tag.trim())
        .filter((tag) => tag !== ''),
    ),
  ];
}

/** `meta` with other notes; what devices and other programs keep there stays. */
export function metaWith(device: Pick<Device, 'meta'>, notes: DeviceNotes): object {
  const { note: _note, tags: _tags, icon: _icon, photo: _photo, ...others } = metaOf(device);
  const { note, tags, icon, photo } = notes;
  return {
    ...others,
    ...(note.trim() !== '' && { note: note.trim() }),
    ...(tags.length > 0 && { tags }),
    ...(icon.trim() !== '' && { icon: icon.trim() }),
    ...(photo !== '' && { photo }),
  };
}
