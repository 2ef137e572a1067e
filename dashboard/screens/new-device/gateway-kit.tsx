import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { isId } from '../../api/id-check.ts';
import { apiPaths, screenPaths } from '../../api/paths.ts';
import type { Gateway } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { pageSettings } from '../../state/page-settings.ts';
import { useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';
import { CopyBlock } from '../../ui/copy-block.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';
import { deviceName, Value } from '../../ui/value.tsx';
import { VisibilityChoice } from '../../ui/visibility-choice.tsx';
import { heardFromAt } from '../gateways/gateway-state.tsx';
import { isConflict } from './create-all.ts';

/** A gateway in two steps: its id, and what it is told to send here. */
export function GatewayKit({ id }: { readonly id: string | undefined }): JSX.Element {
  return (
    <div class="stack narrow-wide">
      <a class="back-link" href={id === undefined ? '/new-device' : '/gateways'}>
        <Icon name="back" />
        {t(id === undefined ? 'start.title' : 'gateways.all')}
      </a>
      <h1>{id === undefined ? t('gateways.add') : t('gateways.setUp', { id })}</h1>
      {id === undefined ? <IdForm /> : <SetUp key={id} id={id} />}
    </div>
  );
}

function IdForm(): JSX.Element {
  const { route } = useLocation();
  const [id, setId] = useState('');
  const [name, setName] = useState('');
  const [visibility, setVisibility] = useState<'public' | 'private'>('private');
  const [idError, setIdError] = useState<string>();
  const action = useAction();
  async function add(event: Event): Promise<void> {
    event.preventDefault();
    const own = id.trim();
    setIdError(isId(own) ? undefined : t('gateways.idBad'));
    if (!isId(own)) return;
    const json = { id: own, ...(name.trim() !== '' && { name: name.trim() }), visibility };
    const isDone = await action.run(async () => {
      try {
        await api.send({ method: 'POST', path: apiPaths.gateways, json });
      } catch (error) {
        // A gateway that was switched on before has made itself.
        if (!isConflict(error) || !(await isOwn(own))) throw error;
      }
    });
    if (isDone) route(`/new-device?kit=gateway&gateway=${encodeURIComponent(own)}`, true);
  }
  return (
    <form class="form" onSubmit={add} noValidate>
      <p class="quiet">{t('gateways.what')}</p>
      <TextField
        label={t('gateways.id')}
        hint={t('gateways.idHint')}
        value={id}
        onValue={setId}
        error={idError}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
      />
      <TextField label={t('gateways.name')} value={name} onValue={setName} isOptional />
      {username.value !== undefined && (
        <VisibilityChoice kind="gateway" value={visibility} onValue={setVisibility} />
      )}
      <FormError text={action.error} />
      <button type="submit" class="button button-main" disabled={action.isBusy}>
        {t('start.next')}
      </button>
    </form>
  );
}

async function isOwn(id: string): Promise<boolean> {
  const found = await api.getJson<Gateway>({ path: apiPaths.gateway(id) }).catch(() => undefined);
  return found?.owner === (username.peek() ?? 'guest');
}

/** Settings of the gateway, and the values that come in. */
function SetUp({ id }: { readonly id: string }): JSX.Element {
  const [key, setKey] = useState<string>();
  const action = useAction();
  const user = username.value;
  const makeKey = () =>
    action.run(async () => {
      const made = await api.request({ method: 'POST', path: '/auth/keys', json: { name: id } });
      setKey(((await made.json()) as { readonly key: string }).key);
    });
  const lines = [
    `API: ${location.origin}/api/v2`,
    `MQTT: ${location.hostname}:${pageSettings().mqttPort}`,
    `MQTT client id: ${id}`,
    ...(user === undefined ? [] : [t('common.pair', { name: t('welcome.username'), value: user })]),
    ...(key === undefined ? [] : [t('common.pair', { name: t('welcome.password'), value: key })]),
  ];
  return (
    <>
      <p>{t('gateways.setUpText')}</p>
      <CopyBlock text={lines.join('\n')} label={t('gateways.setUp', { id })} />
      {key !== undefined && (
        <p class="note" role="status">
          {t('profile.keyShown')}
        </p>
      )}
      {user !== undefined && key === undefined && (
        <div class="stack-tight">
          <p class="quiet">{t('gateways.keyText')}</p>
          <button
            type="button"
            class="button button-main tiles-add"
            disabled={action.isBusy}
            onClick={() => void makeKey()}
          >
            {t('gateways.keyMake')}
          </button>
          <FormError text={action.error} />
        </div>
      )}
      <Heard id={id} />
    </>
  );
}

const askedEveryMs = 4_000;

/** Waits for the gateway, then for a value of one of its devices. */
function Heard({ id }: { readonly id: string }): JSX.Element {
  const { value } = useResource(
    `gateway kit ${id}`,
    (signal) =>
      api.getJson<Gateway>({ path: apiPaths.gateway(id), query: { full: 'true' }, signal }),
    { refreshMs: askedEveryMs },
  );
  const isHeard = value !== undefined && (value.connected || heardFromAt(value) !== undefined);
  const [first] = (value?.devices ?? []).flatMap((device) => {
    const sensor = device.sensors.find(({ last_value }) => last_value !== undefined);
    return sensor === undefined ? [] : [{ device, sensor }];
  });
  return (
    <>
      <p class={first === undefined ? 'note waiting' : 'note arrived'} role="status">
        {first === undefined ? (
          t(isHeard ? 'gateways.waitingValue' : 'gateways.waiting')
        ) : (
          <>
            <Icon name="check" />
            <span>
              {t('gateways.ready', { name: deviceName(first.device) })}{' '}
              <Value value={first.sensor.last_value?.value} unit={first.sensor.unit} />
            </span>
          </>
        )}
      </p>
      <a
        class={first === undefined ? 'button tiles-add' : 'button button-main tiles-add'}
        href={screenPaths.gateway(id)}
      >
        {t(first === undefined ? 'start.later' : 'gateways.see')}
      </a>
    </>
  );
}
