import type { JSX } from 'preact';
import { notesOf } from '../../api/device-notes.ts';
import type { Device } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { deviceName } from '../../ui/value.tsx';

/** What people noted about a device; nothing when there is nothing. */
export function DeviceNotes({ device }: { readonly device: Device }): JSX.Element | null {
  const { note, tags, photo } = notesOf(device);
  if (note === '' && tags.length === 0 && photo === '') return null;
  return (
    <section class="stack-tight" aria-labelledby="notes">
      <h2 id="notes">{t('device.note')}</h2>
      {tags.length > 0 && (
        <ul class="row" aria-label={t('device.tags')}>
          {tags.map((tag) => (
            <li key={tag} class="mark">
              {tag}
            </li>
          ))}
        </ul>
      )}
      {note !== '' && <p class="device-note">{note}</p>}
      {photo !== '' && (
        <img
          class="device-photo"
          src={photo}
          alt={t('device.photoOf', { name: deviceName(device) })}
        />
      )}
    </section>
  );
}
