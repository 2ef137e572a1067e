import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { metaWith, tagsIn } from '../../api/changed-notes.ts';
import { notesOf } from '../../api/device-notes.ts';
import { apiPaths } from '../../api/paths.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { api } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { Field, TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { deviceName } from '../../ui/value.tsx';
import type { KnownDevice } from './device-part.tsx';
import { smallPhoto } from './small-photo.ts';

/** What people note about a device: a sign, tags, a note and a photo. */
export function NotesForm({ known }: { readonly known: KnownDevice }): JSX.Element {
  const { device, reload } = known;
  const before = notesOf(device);
  const [note, setNote] = useState(before.note);
  const [tags, setTags] = useState(before.tags.join(', '));
  const [icon, setIcon] = useState(before.icon);
  const [photo, setPhoto] = useState(before.photo);
  const action = useAction();

  async function save(event: Event): Promise<void> {
    event.preventDefault();
    const path = `${apiPaths.device(device.id)}/meta`;
    const json = metaWith(device, { note, tags: tagsIn(tags), icon, photo });
    if (!(await action.run(() => api.send({ method: 'PUT', path, json })))) return;
    showToast(t('device.saved'));
    reload();
  }

  async function pick(file: File | undefined): Promise<void> {
    if (file === undefined) return;
    const picture = await smallPhoto(file).catch(() => undefined);
    if (picture === undefined) return action.fail(t('device.photoBad'));
    action.fail(undefined);
    setPhoto(picture);
  }

  return (
    <details class="surface fold">
      <summary>{t('device.notes')}</summary>
      <form class="form" onSubmit={save} noValidate>
        <TextField
          label={t('device.icon')}
          hint={t('device.iconHint')}
          maxLength={8}
          autocomplete="off"
          value={icon}
          onValue={setIcon}
          isOptional
        />
        <TextField
          label={t('device.tags')}
          hint={t('device.tagsHint')}
          autocomplete="off"
          value={tags}
          onValue={setTags}
          isOptional
        />
        <Field
          label={t('device.note')}
          hint={t('device.noteHint')}
          isOptional
          control={(ids) => (
            <textarea
              {...ids}
              class="input"
              rows={4}
              value={note}
              onInput={(event) => setNote(event.currentTarget.value)}
            />
          )}
        />
        <PhotoField
          photo={photo}
          name={deviceName(device)}
          onPick={pick}
          onRemove={() => setPhoto('')}
        />
        <FormError text={action.error} />
        <button type="submit" class="button button-main" disabled={action.isBusy}>
          {t('common.save')}
        </button>
      </form>
    </details>
  );
}

/** The photo, with what changes it. */
function PhotoField(props: {
  /** A data URL; empty: none. */
  readonly photo: string;
  readonly name: string;
  readonly onPick: (file: File | undefined) => Promise<void>;
  readonly onRemove: () => void;
}): JSX.Element {
  return (
    <>
      <Field
        label={t('device.photo')}
        isOptional
        control={(ids) => (
          <input
            {...ids}
            class="input"
            type="file"
            accept="image/*"
            onChange={(event) => void props.onPick(event.currentTarget.files?.[0])}
          />
        )}
      />
      {props.photo !== '' && (
        <>
          <img
            class="device-photo"
            src={props.photo}
            alt={t('device.photoOf', { name: props.name })}
          />
          <button type="button" class="button tiles-add" onClick={props.onRemove}>
            {t('device.photoRemove')}
          </button>
        </>
      )}
    </>
  );
}
