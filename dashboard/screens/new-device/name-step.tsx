import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError, isOffline } from '../../api/api-error.ts';
import { idFromName, isId } from '../../api/id-check.ts';
import { apiPaths } from '../../api/paths.ts';
import { t } from '../../i18n/i18n.ts';
import { api, username } from '../../state/session.ts';
import { TextField } from '../../ui/field.tsx';
import { VisibilityChoice } from '../../ui/visibility-choice.tsx';
import { countOf, type Draft, devicesOf, freeId, isOwnId } from './draft.ts';

/** What the device is called, by people and by itself. */
export function NameStep(props: {
  readonly draft: Draft;
  readonly error: string | undefined;
  readonly onDraft: (draft: Draft) => void;
  readonly onNext: () => void;
}): JSX.Element {
  const { draft, error, onDraft, onNext } = props;
  const [hasOwnId, setOwnId] = useState(isOwnId(draft));
  const [idError, setIdError] = useState(error);
  const [suggested, setSuggested] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const count = countOf(draft);

  async function check(event: Event): Promise<void> {
    event.preventDefault();
    const fault =
      draft.id === '' ? t('device.idNeeded') : isId(draft.id) ? undefined : t('device.idBad');
    setIdError(fault);
    setSuggested(undefined);
    if (fault !== undefined || count === undefined || isBusy) return;
    setBusy(true);
    const free = await freeId(draft.id, (id) => areFree(devicesOf({ ...draft, id }, count)));
    setBusy(false);
    if (free === draft.id) return onNext();
    setSuggested(free);
    setIdError(free === undefined ? t('start.taken') : t('start.idTaken', { id: draft.id, free }));
  }

  return (
    <form class="form" onSubmit={check} noValidate>
      <TextField
        label={t('start.name')}
        hint={t('start.nameHint')}
        autocomplete="off"
        value={draft.name}
        onValue={(name) => onDraft({ ...draft, name, ...(!hasOwnId && { id: idFromName(name) }) })}
      />
      <TextField
        label={t('start.id')}
        hint={t('start.idHint')}
        error={idError}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        value={draft.id}
        onValue={(id) => {
          setOwnId(id !== '');
          onDraft({ ...draft, id });
        }}
      />
      {suggested !== undefined && (
        <button
          type="button"
          class="button"
          onClick={() => {
            setOwnId(true);
            setIdError(undefined);
            setSuggested(undefined);
            onDraft({ ...draft, id: suggested });
          }}
        >
          {t('start.useFree', { id: suggested })}
        </button>
      )}
      {username.value !== undefined && (
        <VisibilityChoice
          value={draft.visibility}
          onValue={(visibility) => onDraft({ ...draft, visibility })}
        />
      )}
      <details class="fold" open={draft.count !== '1'}>
        <summary>{t('start.several')}</summary>
        <TextField
          label={t('start.howMany')}
          inputMode="numeric"
          autocomplete="off"
          error={count === undefined ? t('start.howManyBad') : undefined}
          hint={numbers(draft, count)}
          value={draft.count}
          onValue={(next) => onDraft({ ...draft, count: next })}
        />
      </details>
      <button type="submit" class="button button-main" disabled={isBusy}>
        {t('start.next')}
      </button>
    </form>
  );
}

function numbers(draft: Draft, count: number | undefined): string | undefined {
  const devices = count === undefined || count === 1 ? [] : devicesOf(draft, count);
  const [first, last] = [devices[0], devices.at(-1)];
  if (first === undefined || last === undefined || draft.id === '') return undefined;
  return t('start.howManyHint', { first: first.id, last: last.id });
}

/** Whether nobody has any of these; without network the service says it later. */
async function areFree(devices: readonly { readonly id: string }[]): Promise<boolean> {
  const answers = await Promise.all(devices.slice(0, askedMax).map(({ id }) => isFree(id)));
  return answers.every(Boolean);
}

/** Of many, the first ones tell. */
const askedMax = 5;

async function isFree(id: string): Promise<boolean> {
  try {
    await api.request({ path: apiPaths.device(id) });
    return false;
  } catch (failure) {
    // A private device of somebody else is forbidden, and there all the same.
    if (isOffline(failure)) return true;
    return failure instanceof ApiError && failure.code === 'not_found';
  }
}
