import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { apiPaths, screenPaths } from '../../api/paths.ts';
import type { Gateway, Location } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { MapOfPlaces, PickLocation } from '../../map/lazy-map.tsx';
import type { ScreenProps } from '../../shell/screen.ts';
import { useAction } from '../../state/action.ts';
import { useLiveDevices } from '../../state/live-devices.ts';
import { useResource } from '../../state/resource.ts';
import { api, isAdmin, username } from '../../state/session.ts';
import { isRefused, useStillThere } from '../../state/still-there.ts';
import { showToast } from '../../state/toasts.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';
import { LoadError } from '../../ui/load-error.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { deviceName } from '../../ui/value.tsx';
import { VisibilityChoice } from '../../ui/visibility-choice.tsx';
import { DeviceCard } from '../home/device-card.tsx';
import { GatewayState, gatewayPlaces } from './gateway-state.tsx';
import { HeardStrip } from './heard-strip.tsx';

/** One gateway: whether it is there, what it relays for, where it stands. */
export function GatewayScreen({ params }: ScreenProps): JSX.Element {
  const id = params['gateway'] ?? '';
  const { value, error, reload } = useResource(`gateway ${username.value} ${id}`, (signal) =>
    api.getJson<Gateway>({ path: apiPaths.gateway(id), query: { full: 'true' }, signal }),
  );
  const isGone = isRefused(error);
  useStillThere(value !== undefined && !isGone ? apiPaths.gateway(id) : undefined, reload);
  return (
    <div class="stack">
      <a href="/gateways" class="back-link">
        <Icon name="back" />
        {t('gateways.all')}
      </a>
      {error !== undefined && <LoadError error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton height={320} />}
      {value !== undefined && !isGone && <Known key={value.id} gateway={value} reload={reload} />}
    </div>
  );
}

function Known(props: { readonly gateway: Gateway; readonly reload: () => void }): JSX.Element {
  const { gateway, reload } = props;
  const [isEditing, setEditing] = useState(false);
  const devices = useLiveDevices(gateway.devices ?? []);
  const places = gatewayPlaces([gateway]);
  const name = deviceName(gateway);
  const user = username.value;
  const mayChange = isAdmin.value || gateway.owner === user || gateway.owner === 'guest';
  return (
    <>
      <header class="screen-head">
        <h1>{name}</h1>
        <span class="row">
          {(isAdmin.value || gateway.owner === user) && (
            <a class="button" href={`${screenPaths.gateway(gateway.id)}/share`}>
              <Icon name="share" />
              {t('device.share')}
            </a>
          )}
          {mayChange && !isEditing && (
            <button type="button" class="button" onClick={() => setEditing(true)}>
              <Icon name="edit" />
              {t('common.edit')}
            </button>
          )}
        </span>
      </header>
      <p class="row">
        <GatewayState gateway={gateway} />
        <span class="quiet small mono">{gateway.id}</span>
        {gateway.owner !== user && (
          <span class="quiet small">{t('gateways.owner', { name: gateway.owner })}</span>
        )}
      </p>
      {isEditing && (
        <GatewayForm
          gateway={gateway}
          onDone={() => {
            setEditing(false);
            reload();
          }}
        />
      )}
      <HeardStrip gateway={gateway} name={name} />
      <h2>{t('common.devices', { count: devices.length })}</h2>
      {devices.length === 0 && <p class="quiet">{t('gateways.noDevices')}</p>}
      <ul class="cards">
        {devices.map((device) => (
          <li key={device.id}>
            <DeviceCard device={device} />
          </li>
        ))}
      </ul>
      {places.length > 0 && <MapOfPlaces places={places} heightPx={280} />}
      {mayChange && <DeleteGateway gateway={gateway} />}
    </>
  );
}

function GatewayForm(props: {
  readonly gateway: Gateway;
  readonly onDone: () => void;
}): JSX.Element {
  const { gateway, onDone } = props;
  const [name, setName] = useState(gateway.name ?? '');
  const [visibility, setVisibility] = useState(gateway.visibility ?? 'public');
  const [location, setLocation] = useState<Location | undefined>(gateway.location);
  const action = useAction();
  async function save(event: Event): Promise<void> {
    event.preventDefault();
    const put = (field: string, body: string) =>
      api.send({ method: 'PUT', path: `${apiPaths.gateway(gateway.id)}/${field}`, body });
    const isDone = await action.run(async () => {
      if (name !== (gateway.name ?? '')) await put('name', name.trim());
      if (visibility !== (gateway.visibility ?? 'public')) await put('visibility', visibility);
      if (location !== undefined && location !== gateway.location) {
        await put('location', `${location.latitude},${location.longitude}`);
      }
    });
    if (!isDone) return;
    showToast(t('gateways.saved'));
    onDone();
  }
  return (
    <form class="form surface" onSubmit={save} noValidate>
      <TextField label={t('gateways.name')} value={name} onValue={setName} />
      <VisibilityChoice kind="gateway" value={visibility} onValue={setVisibility} />
      <h2>{t('gateways.place')}</h2>
      <PickLocation value={location} onChange={(next) => setLocation(next ?? gateway.location)} />
      <FormError text={action.error} />
      <div class="row">
        <button type="submit" class="button button-main" disabled={action.isBusy}>
          {t('common.save')}
        </button>
        <button type="button" class="button" onClick={onDone}>
          {t('common.cancel')}
        </button>
      </div>
    </form>
  );
}

function DeleteGateway({ gateway }: { readonly gateway: Gateway }): JSX.Element {
  const [isAsking, setAsking] = useState(false);
  const action = useAction();
  const { route } = useLocation();
  async function remove(): Promise<void> {
    const isDone = await action.run(() =>
      api.send({ method: 'DELETE', path: apiPaths.gateway(gateway.id) }),
    );
    setAsking(false);
    if (!isDone) return;
    showToast(t('gateways.deleted'));
    route('/gateways', true);
  }
  return (
    <div>
      <FormError text={action.error} />
      <button type="button" class="button button-danger" onClick={() => setAsking(true)}>
        {t('gateways.delete')}
      </button>
      {isAsking && (
        <ConfirmDialog
          title={t('gateways.delete')}
          text={t('gateways.deleteText', { name: deviceName(gateway) })}
          action={t('common.delete')}
          isBusy={action.isBusy}
          onConfirm={() => void remove()}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  );
}
