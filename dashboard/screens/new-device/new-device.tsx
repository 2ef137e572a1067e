import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../../api/api-error.ts';
import { errorSentence } from '../../api/error-sentence.ts';
import { idFromName, isId } from '../../api/id-check.ts';
import { screenPaths } from '../../api/paths.ts';
import { t } from '../../i18n/i18n.ts';
import { useDevice } from '../../state/device.ts';
import { api, username } from '../../state/session.ts';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';
import { SnippetsPanel } from '../../ui/snippets-panel.tsx';
import { Value } from '../../ui/value.tsx';
import { VisibilityChoice } from '../../ui/visibility-choice.tsx';
import { DeviceOrWhy } from '../device/device-part.tsx';
import { usualSensors } from './usual-sensors.ts';

interface Draft {
  readonly name: string;
  readonly id: string;
  readonly visibility: 'public' | 'private';
  /** Ids of the usual sensors that were tapped. */
  readonly sensors: readonly string[];
  readonly other: string;
}

/** A device in three steps: what it is, what it measures, and the lines that send. */
export function NewDevice(): JSX.Element {
  const [step, setStep] = useState(1);
  const [draft, setDraft] = useState<Draft>({
    name: '',
    id: '',
    // What a guest makes is public, whatever is asked [contract 4].
    visibility: username.value === undefined ? 'public' : 'private',
    sensors: [],
    other: '',
  });
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (step > 1) heading.current?.focus();
  }, [step]);

  async function create(): Promise<void> {
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    try {
      await api.send({ method: 'POST', path: '/devices', json: messageOf(draft) });
      setStep(3);
    } catch (failure) {
      const isTaken = failure instanceof ApiError && failure.code === 'conflict';
      setError(isTaken ? t('start.taken') : errorSentence(failure, t));
      if (isTaken) setStep(1);
    } finally {
      setBusy(false);
    }
  }

  const titles = ['start.nameTitle', 'start.sensorsTitle', 'start.sendTitle'] as const;
  return (
    <div class="stack narrow-wide">
      <p class="quiet">{t('start.step', { count: step })}</p>
      <h1 ref={heading} tabIndex={-1}>
        {t(titles[step - 1] ?? 'start.title')}
      </h1>
      {step === 1 && (
        <NameStep
          draft={draft}
          error={error}
          onDraft={setDraft}
          onNext={() => {
            setError(undefined);
            setStep(2);
          }}
        />
      )}
      {step === 2 && (
        <SensorsStep
          draft={draft}
          error={error}
          isBusy={isBusy}
          onDraft={setDraft}
          onBack={() => setStep(1)}
          onCreate={() => void create()}
        />
      )}
      {step === 3 && <SendStep id={draft.id} />}
    </div>
  );
}

function messageOf(draft: Draft): object {
  const chosen = usualSensors.filter(({ id }) => draft.sensors.includes(id));
  const other = draft.other.trim();
  const otherId = idFromName(other) || 'S1';
  const isTaken = chosen.some(({ id }) => id === otherId);
  return {
    id: draft.id,
    ...(draft.name.trim() !== '' && { name: draft.name.trim() }),
    visibility: draft.visibility,
    sensors: [
      ...chosen.map(({ text, id, kind, quantity, unit }) => ({
        id,
        name: t(`start.${text}`),
        ...(kind !== undefined && { sensing_device: kind }),
        ...(quantity !== undefined && { quantity_kind: quantity }),
        ...(unit !== undefined && { unit }),
      })),
      ...(other === '' ? [] : [{ id: isTaken ? `${otherId}-2` : otherId, name: other }]),
    ],
  };
}

function NameStep(props: {
  readonly draft: Draft;
  readonly error: string | undefined;
  readonly onDraft: (draft: Draft) => void;
  readonly onNext: () => void;
}): JSX.Element {
  const { draft, error, onDraft, onNext } = props;
  const [hasOwnId, setOwnId] = useState(draft.id !== '' && draft.id !== idFromName(draft.name));
  const [idError, setIdError] = useState(error);
  function check(event: Event): void {
    event.preventDefault();
    const fault =
      draft.id === '' ? t('device.idNeeded') : isId(draft.id) ? undefined : t('device.idBad');
    setIdError(fault);
    if (fault === undefined) onNext();
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
      {username.value !== undefined && (
        <VisibilityChoice
          value={draft.visibility}
          onValue={(visibility) => onDraft({ ...draft, visibility })}
        />
      )}
      <button type="submit" class="button button-main">
        {t('start.next')}
      </button>
    </form>
  );
}

function SensorsStep(props: {
  readonly draft: Draft;
  readonly error: string | undefined;
  readonly isBusy: boolean;
  readonly onDraft: (draft: Draft) => void;
  readonly onBack: () => void;
  readonly onCreate: () => void;
}): JSX.Element {
  const { draft, error, isBusy, onDraft, onBack, onCreate } = props;
  const toggle = (id: string): void => {
    const isOn = draft.sensors.includes(id);
    const sensors = isOn ? draft.sensors.filter((one) => one !== id) : [...draft.sensors, id];
    onDraft({ ...draft, sensors });
  };
  return (
    <form
      class="form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onCreate();
      }}
    >
      <p class="quiet">{t('start.sensorsHint')}</p>
      <div class="chips">
        {usualSensors.map(({ id, text }) => (
          <button
            key={id}
            type="button"
            class="chip"
            aria-pressed={draft.sensors.includes(id)}
            onClick={() => toggle(id)}
          >
            {draft.sensors.includes(id) && <Icon name="check" />}
            {t(`start.${text}`)}
          </button>
        ))}
      </div>
      <TextField
        label={t('start.other')}
        placeholder={t('start.otherName')}
        autocomplete="off"
        value={draft.other}
        onValue={(other) => onDraft({ ...draft, other })}
        isOptional
      />
      <FormError text={error} />
      <div class="row">
        <button type="submit" class="button button-main" disabled={isBusy}>
          {t('start.create')}
        </button>
        <button type="button" class="button button-quiet" onClick={onBack}>
          {t('start.back')}
        </button>
      </div>
    </form>
  );
}

function SendStep({ id }: { readonly id: string }): JSX.Element {
  const state = useDevice(id);
  return (
    <DeviceOrWhy state={state}>
      {({ device }) => {
        const heard = device.sensors.find(({ last_value }) => last_value !== undefined);
        return (
          <div class="stack">
            <SnippetsPanel device={device} />
            <p class={heard === undefined ? 'note waiting' : 'note arrived'} role="status">
              {heard === undefined ? (
                t('start.waiting')
              ) : (
                <>
                  <Icon name="check" />
                  <span>
                    {t('start.arrivedText')}{' '}
                    <Value value={heard.last_value?.value} unit={heard.unit} />
                  </span>
                </>
              )}
            </p>
            <a
              class={heard === undefined ? 'button tiles-add' : 'button button-main tiles-add'}
              href={screenPaths.device(id)}
            >
              {t(heard === undefined ? 'start.later' : 'start.see')}
            </a>
          </div>
        );
      }}
    </DeviceOrWhy>
  );
}
