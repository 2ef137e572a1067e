import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { apiPaths, screenPaths } from '../../api/paths.ts';
import type { Device } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { useDevice } from '../../state/device.ts';
import { useNames } from '../../state/names.ts';
import { api } from '../../state/session.ts';
import { SelectField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Refusals } from '../../ui/refusals.tsx';
import { SnippetsPanel } from '../../ui/snippets-panel.tsx';
import { Value } from '../../ui/value.tsx';
import { DeviceOrWhy } from '../device/device-part.tsx';
import { SensorChoice } from './sensors-step.tsx';
import { type Chosen, sensorsOf } from './usual-sensors.ts';

/** The lines that send for what was made, and a look at what comes in. */
export function SendStep({ ids }: { readonly ids: readonly string[] }): JSX.Element {
  const [id, setId] = useState(ids[0] ?? '');
  const several = ids.length > 1 ? ids : [];
  const { nameOf } = useNames(several.map((one) => ({ kind: 'device', id: one })));
  return (
    <div class="stack">
      {ids.length > 1 && (
        <>
          <p class="note arrived" role="status">
            <Icon name="check" />
            <span>{t('start.made', { count: ids.length })}</span>
          </p>
          <SelectField
            label={t('start.whichLines')}
            value={id}
            options={ids.map((one) => ({ value: one, label: nameOf({ kind: 'device', id: one }) }))}
            onValue={setId}
          />
        </>
      )}
      <SendOne key={id} id={id} />
    </div>
  );
}

function SendOne({ id }: { readonly id: string }): JSX.Element {
  const state = useDevice(id);
  return (
    <DeviceOrWhy state={state}>
      {({ device, reload }) => {
        if (device.sensors.length === 0) return <FirstSensors device={device} onDone={reload} />;
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
            {heard === undefined && <Refusals device={device} />}
            {heard === undefined && <NothingComes />}
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

/** What a device is answered, and what is to do about it. */
const answers = [
  ['401', 'start.why401'],
  ['403', 'start.why403'],
  ['404', 'start.why404'],
  ['400', 'start.why400'],
  ['429', 'start.why429'],
] as const;

const ownNames: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Helps those whose device sends and nothing arrives: the answer that it gets says why. */
function NothingComes(): JSX.Element {
  const { hostname } = location;
  return (
    <details>
      <summary>{t('start.nothing')}</summary>
      <div class="stack-tight">
        {ownNames.has(hostname) && <p class="note">{t('start.whyLocal', { host: hostname })}</p>}
        <p class="quiet">{t('start.whyText')}</p>
        <dl class="reasons">
          {answers.map(([code, text]) => (
            <div key={code}>
              <dt>
                <code>{code}</code>
              </dt>
              <dd>{t(text)}</dd>
            </div>
          ))}
          <div>
            <dt>{t('start.noAnswer')}</dt>
            <dd>{t('start.whyNoAnswer', { origin: location.origin })}</dd>
          </div>
        </dl>
      </div>
    </details>
  );
}

/** Without a sensor there is nothing to send to: it is asked for once more. */
function FirstSensors(props: {
  readonly device: Device;
  readonly onDone: () => void;
}): JSX.Element {
  const { device, onDone } = props;
  const [wanted, setWanted] = useState<Chosen>({ sensors: [], other: '', otherUnit: '' });
  const action = useAction();
  const chosen = sensorsOf(wanted);
  async function add(event: Event): Promise<void> {
    event.preventDefault();
    const path = `${apiPaths.device(device.id)}/sensors`;
    await action.run(async () => {
      for (const json of chosen) await api.send({ method: 'POST', path, json });
    });
    onDone();
  }
  return (
    <form class="form" onSubmit={add} noValidate>
      <p class="note">{t('start.noSensorYet')}</p>
      <SensorChoice chosen={wanted} onChange={setWanted} />
      <FormError text={action.error} />
      <div class="row">
        <button
          type="submit"
          class="button button-main"
          disabled={action.isBusy || chosen.length === 0}
        >
          {t('start.addThese')}
        </button>
        <a class="button button-quiet" href={screenPaths.device(device.id)}>
          {t('start.later')}
        </a>
      </div>
    </form>
  );
}
