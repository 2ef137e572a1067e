import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { daysMax, readDays, retentionSentences } from '../api/retention-words.ts';
import type { Retention } from '../api/types.ts';
import { language, t } from '../i18n/i18n.ts';
import { useAction } from '../state/action.ts';
import { now } from '../state/clock.ts';
import { useResource } from '../state/resource.ts';
import { api } from '../state/session.ts';
import { showToast } from '../state/toasts.ts';
import { ConfirmDialog } from './dialog.tsx';
import { ErrorBox } from './error-box.tsx';
import { TextField } from './field.tsx';
import { Fold } from './fold.tsx';
import { FormError } from './form-error.tsx';
import { Skeleton } from './skeleton.tsx';

/** What a retention is set for. */
export interface RetainedPlace {
  readonly scope: 'sensor' | 'device' | 'user';
  /** The API path of the sensor, the device or the account. */
  readonly path: string;
  /** Which values are of it; absent: nobody counts them beforehand. */
  readonly values?: Readonly<Record<string, string>>;
}

/** Says how long values are kept and what goes next, and lets whoever may change it set it. */
export function RetentionPart({ place }: { readonly place: RetainedPlace }): JSX.Element {
  const path = `${place.path}/retention`;
  const { value, error, reload } = useResource(`retention ${path}`, (signal) =>
    api.getJson<Retention>({ path, signal }),
  );
  if (error !== undefined) return <ErrorBox error={error} onRetry={reload} />;
  if (value === undefined) return <Skeleton height={200} />;
  const words = { now: now.value, language: language.value, t };
  return (
    <div class="stack">
      <p>{retentionSentences(value, words).join(' ')}</p>
      {place.scope !== 'sensor' && <p class="quiet small">{t('retention.ownHolds')}</p>}
      <RetentionForm key={JSON.stringify(value)} {...{ place, path, reload }} state={value} />
    </div>
  );
}

/** The same, read when it is opened. */
export function RetentionFold({ place }: { readonly place: RetainedPlace }): JSX.Element {
  return (
    <Fold title={t('retention.title')}>
      <RetentionPart place={place} />
    </Fold>
  );
}

/** What is about to be sent; undefined days: nothing is set here any more. */
interface Wanted {
  readonly days?: { readonly raw_days: number | null; readonly hourly_days: number | null };
  /** How many values are too old today, where that is known. */
  readonly older?: number | undefined;
}

function RetentionForm(props: {
  readonly place: RetainedPlace;
  readonly path: string;
  readonly state: Retention;
  readonly reload: () => void;
}): JSX.Element {
  const { place, path, state, reload } = props;
  const isHere = state.source === place.scope;
  const [raw, setRaw] = useState(String(state.raw_days ?? ''));
  const [hourly, setHourly] = useState(String(state.hourly_days ?? ''));
  const [wanted, setWanted] = useState<Wanted>();
  const action = useAction();

  async function send({ days }: Wanted): Promise<void> {
    const isDone = await action.run(() =>
      days === undefined
        ? api.send({ method: 'DELETE', path })
        : api.send({ method: 'PUT', path, json: days }),
    );
    setWanted(undefined);
    if (!isDone) return;
    showToast(t('device.saved'));
    reload();
  }

  async function save(event: Event): Promise<void> {
    event.preventDefault();
    const days = { raw_days: readDays(raw), hourly_days: readDays(raw === '' ? '' : hourly) };
    const { raw_days, hourly_days } = days;
    if (raw_days === undefined || hourly_days === undefined) {
      return action.fail(t('retention.badDays', { max: daysMax }));
    }
    if (raw_days === null) return send({ days: { raw_days, hourly_days } });
    if (hourly_days !== null && hourly_days < raw_days) return action.fail(t('retention.tooShort'));
    action.fail(undefined);
    const older = await countOlder(place, raw_days);
    setWanted({ days: { raw_days, hourly_days }, older });
  }

  return (
    <form class="form" onSubmit={save} noValidate>
      <DayFields {...{ raw, setRaw, hourly, setHourly }} />
      <FormError text={action.error} />
      <div class="row">
        <button type="submit" class="button button-main" disabled={action.isBusy}>
          {t('common.save')}
        </button>
        {isHere && (
          <button type="button" class="button" onClick={() => setWanted({})}>
            {t('retention.outer')}
          </button>
        )}
      </div>
      {wanted !== undefined && (
        <Ask
          wanted={wanted}
          isBusy={action.isBusy}
          onConfirm={() => void send(wanted)}
          onClose={() => setWanted(undefined)}
        />
      )}
    </form>
  );
}

function DayFields(props: {
  readonly raw: string;
  readonly setRaw: (text: string) => void;
  readonly hourly: string;
  readonly setHourly: (text: string) => void;
}): JSX.Element {
  const { raw, setRaw, hourly, setHourly } = props;
  return (
    <>
      <TextField
        label={t('retention.rawDays')}
        hint={t('retention.empty')}
        inputMode="numeric"
        autocomplete="off"
        value={raw}
        onValue={setRaw}
      />
      {raw.trim() !== '' && (
        <TextField
          label={t('retention.hourlyDays')}
          hint={t('retention.hourlyHint')}
          inputMode="numeric"
          autocomplete="off"
          value={hourly}
          onValue={setHourly}
        />
      )}
    </>
  );
}

function Ask(props: {
  readonly wanted: Wanted;
  readonly isBusy: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}): JSX.Element {
  const { days, older } = props.wanted;
  const asked =
    days === undefined
      ? [t('retention.outerAsk')]
      : [
          t('retention.ask', { count: days.raw_days ?? daysMax }),
          ...(older === undefined ? [] : [t('retention.older', { count: older })]),
        ];
  return (
    <ConfirmDialog
      title={t(days === undefined ? 'retention.outer' : 'retention.askTitle')}
      text={asked.join(' ')}
      action={t(days === undefined ? 'retention.outer' : 'retention.doDelete')}
      isBusy={props.isBusy}
      onConfirm={props.onConfirm}
      onClose={props.onClose}
    />
  );
}

const dayMs = 86_400_000;

/** How many values would go today; undefined: it cannot be said. */
async function countOlder(place: RetainedPlace, days: number): Promise<number | undefined> {
  if (place.values === undefined) return undefined;
  const before = (Math.floor(Date.now() / dayMs) - days) * dayMs - 1;
  const query = { ...place.values, dateTo: new Date(before).toISOString(), limit: 1 };
  const page = api.getPage({ path: '/sensors_data', query });
  return await page.then(({ total }) => total).catch(() => undefined);
}
