import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { controlKind } from '../api/control-value.ts';
import {
  askingLines,
  hearingLines,
  type ListenedControl,
  listeningPython,
  listeningSketch,
} from '../api/listening.ts';
import { screenPaths } from '../api/paths.ts';
import type { SendTarget } from '../api/send-target.ts';
import { exampleValue, type SnippetKind, snippet, snippetKinds } from '../api/snippets.ts';
import type { Actuator, Device } from '../api/types.ts';
import { t } from '../i18n/i18n.ts';
import { useAction } from '../state/action.ts';
import { pageSettings } from '../state/page-settings.ts';
import { api, username } from '../state/session.ts';
import { type BoardChoice, BoardFields, isBoardSet } from './board-fields.tsx';
import { CopyBlock } from './copy-block.tsx';
import { SelectField } from './field.tsx';
import { FormError } from './form-error.tsx';
import { HandValue } from './hand-value.tsx';
import { Icon } from './icons.tsx';
import { deviceName, sensorName } from './value.tsx';

/** Who may send values to a device: anybody, or those with a key. */
function sending({ visibility, owner }: Device): 'public' | 'granted' | 'private' {
  if (visibility === 'private') return 'private';
  // What belongs to nobody stays open to everybody.
  return pageSettings().publicPush === 'granted' && owner !== 'guest' ? 'granted' : 'public';
}

/** Lines that send values of a device, in four ways; with a key where one is needed. */
export function SnippetsPanel({ device }: { readonly device: Device }): JSX.Element {
  const { query } = useLocation();
  const [way, setWay] = useState<SnippetKind | 'hand'>(query['by'] === 'hand' ? 'hand' : 'curl');
  const kind = way === 'hand' ? 'curl' : way;
  const [sensorId, setSensorId] = useState(device.sensors[0]?.id ?? '');
  const [controlId, setControlId] = useState(device.actuators[0]?.id);
  const [key, setKey] = useState<string>();
  const [choice, setChoice] = useState<BoardChoice>({
    ...{ board: 'ESP32', wifi: { name: '', password: '' } },
  });
  const who = sending(device);
  // Lines that would be refused, or hold what is to be replaced, are not shown.
  const needsKey = who !== 'public' && key === undefined;
  const isWhole = kind !== 'Arduino' || isBoardSet(choice);
  if (device.sensors.length === 0) return <NoSensor device={device} />;

  const target: SendTarget = {
    origin: location.origin,
    host: location.hostname,
    mqttPort: pageSettings().mqttPort,
    device: device.id,
    sensor: sensorId,
    ...(key !== undefined && { key }),
    ...choice,
    ...(username.value !== undefined && { username: username.value }),
  };
  const actuator = device.actuators.find(({ id }) => id === controlId);
  const control = actuator && listened(actuator);
  // Anybody hears a public device; what it is set to is said by who may set it.
  const mayConfirm = key !== undefined || device.owner === 'guest';
  const isSketchWhole = kind === 'Arduino' && control !== undefined && mayConfirm;
  const lines = isSketchWhole
    ? listeningSketch(target, control, exampleValue)
    : snippet(kind, target);
  return (
    <div class="stack">
      <fieldset class="segments segments-close" aria-label={t('send.way')}>
        {snippetKinds.map((name) => (
          <button
            key={name}
            type="button"
            class="segment"
            aria-pressed={way === name}
            onClick={() => setWay(name)}
          >
            {name}
          </button>
        ))}
        <button
          type="button"
          class="segment"
          aria-pressed={way === 'hand'}
          onClick={() => setWay('hand')}
        >
          {t('send.byHand')}
        </button>
      </fieldset>
      {way === 'hand' ? (
        <HandValue device={device} sensors={device.sensors} />
      ) : (
        <>
          {device.sensors.length > 1 && (
            <SelectField
              label={t('send.sensor')}
              value={sensorId}
              options={device.sensors.map((one) => ({ value: one.id, label: sensorName(one) }))}
              onValue={setSensorId}
            />
          )}
          {device.actuators.length > 1 && (
            <SelectField
              label={t('send.control')}
              value={controlId ?? ''}
              options={device.actuators.map((one) => ({ value: one.id, label: sensorName(one) }))}
              onValue={setControlId}
            />
          )}
          <p class="quiet">
            {t(`send.${who}`)} {device.actuators.length > 0 && t('send.keyListens')}
          </p>
          {kind === 'Arduino' && <BoardFields value={choice} onValue={setChoice} />}
          {!isWhole && <p class="note">{t('send.wifiFirst')}</p>}
          {isWhole && needsKey && <KeyOffer device={device} onKey={setKey} />}
          {isWhole && key !== undefined && (
            <p class="note" role="status">
              {t('send.keyMade')}
            </p>
          )}
          {!needsKey && isWhole && <CopyBlock text={lines} label={kind} />}
          {!needsKey && isWhole && actuator !== undefined && (
            <div class="stack-tight">
              <h2>{t('send.listen', { name: sensorName(actuator) })}</h2>
              {isSketchWhole ? (
                <p class="quiet">{t('send.sketchListens', { name: sensorName(actuator) })}</p>
              ) : (
                <Controls kind={kind} target={target} actuator={actuator} mayConfirm={mayConfirm} />
              )}
              {!mayConfirm && <KeyOffer device={device} onKey={setKey} />}
            </div>
          )}
        </>
      )}
    </div>
  );
}

const listened = (actuator: Actuator): ListenedControl => ({
  id: actuator.id,
  kind: controlKind(actuator),
  value: actuator.value ?? true,
});

/** Lines for a board that switches something: hearing the setting, and confirming it. */
function Controls(props: {
  readonly kind: SnippetKind;
  readonly target: SendTarget;
  readonly actuator: Actuator;
  readonly mayConfirm: boolean;
}): JSX.Element {
  const { kind, target, actuator, mayConfirm } = props;
  const name = sensorName(actuator);
  const control = listened(actuator);
  const label = t('send.listen', { name });
  if (kind === 'Python' && mayConfirm) {
    return (
      <>
        <p class="quiet">{t('send.pythonListens', { name })}</p>
        <CopyBlock text={listeningPython(target, control)} label={label} />
      </>
    );
  }
  const isAsking = kind === 'curl';
  const { listen, confirm } = (isAsking ? askingLines : hearingLines)(target, control);
  return (
    <>
      <p class="quiet">{t(isAsking ? 'send.askText' : 'send.listenText', { name })}</p>
      <CopyBlock text={listen} label={label} />
      <p class="quiet">{t('send.confirmText')}</p>
      {mayConfirm && <CopyBlock text={confirm} label={t('send.confirm')} />}
    </>
  );
}

function NoSensor({ device }: { readonly device: Device }): JSX.Element {
  return (
    <div class="stack-tight">
      <p class="quiet">{t('send.noSensor')}</p>
      <a class="button tiles-add" href={screenPaths.devicePart(device.id, 'new-sensor')}>
        <Icon name="plus" />
        {t('send.addSensor')}
      </a>
    </div>
  );
}

/** Makes a key that may send to this device alone. */
function KeyOffer(props: {
  readonly device: Device;
  readonly onKey: (key: string) => void;
}): JSX.Element {
  const { device, onKey } = props;
  const action = useAction();
  if (username.value === undefined) return <p class="note">{t('send.loginForKey')}</p>;

  async function makeKey(): Promise<void> {
    const json = {
      name: t('send.keyName', { name: deviceName(device) }),
      devices: [device.id],
      // With it a board also hears what its actuators are set to [contract 15].
      scopes: ['devices-data:create'],
    };
    await action.run(async () => {
      const made = await api.request({ method: 'POST', path: '/auth/keys', json });
      onKey(((await made.json()) as { readonly key: string }).key);
    });
  }

  return (
    <div class="stack-tight">
      <div class="row">
        <button
          type="button"
          class="button button-main"
          disabled={action.isBusy}
          onClick={() => void makeKey()}
        >
          {t('send.makeKey')}
        </button>
        <span class="quiet">{t('send.keyNeeded')}</span>
      </div>
      <FormError text={action.error} />
    </div>
  );
}
