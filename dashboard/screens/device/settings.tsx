import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { apiPaths, screenPaths } from '../../api/paths.ts';
import type { Device } from '../../api/types.ts';
import { isZone } from '../../charts/zone.ts';
import { t } from '../../i18n/i18n.ts';
import type { ScreenProps } from '../../shell/screen.ts';
import { useAction } from '../../state/action.ts';
import { api } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { GatewayField } from '../../ui/gateway-field.tsx';
import { Icon } from '../../ui/icons.tsx';
import { RetentionFold } from '../../ui/retention-part.tsx';
import { deviceName } from '../../ui/value.tsx';
import { VisibilityChoice } from '../../ui/visibility-choice.tsx';
import { DevicePart, type KnownDevice } from './device-part.tsx';
import { NotesForm } from './notes-form.tsx';
import { ZoneField } from './zone-field.tsx';

/** What a device is called, who sees it, and the end of it. */
export function DeviceSettings({ params }: ScreenProps): JSX.Element {
  return (
    <DevicePart id={params['device'] ?? ''} title={() => t('device.settings')}>
      {(known) => (
        <>
          {known.rights.changes ? (
            <>
              <DeviceForm known={known} />
              <NotesForm known={known} />
              <RetentionFold
                place={{
                  scope: 'device',
                  path: apiPaths.device(known.device.id),
                  values: { device_id: known.device.id },
                }}
              />
            </>
          ) : (
            <p class="note">{t('errors.forbidden')}</p>
          )}
          {known.rights.shares && <HandOver known={known} />}
          {known.rights.deletes && <DeleteDevice device={known.device} />}
        </>
      )}
    </DevicePart>
  );
}

interface Draft {
  readonly name: string;
  readonly domain: string;
  readonly gateway_id: string;
  readonly visibility: 'public' | 'private';
  readonly timezone: string;
  readonly deployed: boolean;
}

const draftOf = (device: Device): Draft => ({
  name: device.name ?? '',
  domain: device.domain ?? '',
  gateway_id: device.gateway_id ?? '',
  visibility: device.visibility ?? 'public',
  timezone: device.timezone ?? '',
  deployed: device.deployed === true,
});

/** The fields that are not as before; null removes one. */
function changesOf(before: Draft, draft: Draft): Readonly<Record<string, unknown>> {
  const plain = (value: string | boolean): unknown =>
    typeof value === 'string' ? value.trim() || null : value;
  const fields = ['name', 'domain', 'gateway_id', 'visibility', 'timezone', 'deployed'] as const;
  const changed = fields.filter((field) => plain(draft[field]) !== plain(before[field]));
  return Object.fromEntries(changed.map((field) => [field, plain(draft[field])]));
}

function DeviceForm({ known }: { readonly known: KnownDevice }): JSX.Element {
  const { device, reload } = known;
  const [draft, setDraft] = useState(() => draftOf(device));
  const action = useAction();
  const { route } = useLocation();
  const set = (part: Partial<Draft>): void => setDraft((before) => ({ ...before, ...part }));

  async function save(event: Event): Promise<void> {
    event.preventDefault();
    const zone = draft.timezone.trim();
    if (zone !== '' && !isZone(zone)) return action.fail(t('device.zoneBad'));
    const path = apiPaths.device(device.id);
    const json = changesOf(draftOf(device), draft);
    if (!(await action.run(() => api.send({ method: 'PATCH', path, json })))) return;
    reload();
    showToast(t('device.saved'));
    route(screenPaths.device(device.id));
  }

  return (
    <form class="form" onSubmit={save} noValidate>
      <p class="quiet">
        {t('common.pair', { name: t('device.id'), value: '' })}
        <span class="mono">{device.id}</span>
      </p>
      <TextField label={t('device.name')} value={draft.name} onValue={(name) => set({ name })} />
      <VisibilityChoice value={draft.visibility} onValue={(visibility) => set({ visibility })} />
      <TextField
        label={t('device.domain')}
        hint={t('device.domainHint')}
        value={draft.domain}
        onValue={(domain) => set({ domain })}
        isOptional
      />
      <GatewayField value={draft.gateway_id} onValue={(gateway_id) => set({ gateway_id })} />
      <ZoneField value={draft.timezone} onValue={(timezone) => set({ timezone })} />
      <label class="choice">
        <input
          type="checkbox"
          checked={draft.deployed}
          onChange={(event) => set({ deployed: event.currentTarget.checked })}
        />
        {t('device.deployed')}
      </label>
      <FormError text={action.error} />
      <button type="submit" class="button button-main" disabled={action.isBusy}>
        {t('common.save')}
      </button>
    </form>
  );
}

function HandOver({ known }: { readonly known: KnownDevice }): JSX.Element {
  const { device, reload } = known;
  const [owner, setOwner] = useState('');
  const action = useAction();
  async function handOver(event: Event): Promise<void> {
    event.preventDefault();
    const body = owner.trim();
    if (body === '') return action.fail(t('welcome.nameNeeded'));
    const path = `${apiPaths.device(device.id)}/owner`;
    if (!(await action.run(() => api.send({ method: 'PUT', path, body })))) return;
    showToast(t('device.transferred', { name: deviceName(device), owner: body }));
    reload();
  }
  return (
    <details class="surface fold">
      <summary>{t('device.transfer')}</summary>
      <form class="form" onSubmit={handOver} noValidate>
        <p class="quiet">{t('device.transferText')}</p>
        <TextField
          label={t('device.newOwner')}
          autocapitalize="none"
          spellcheck={false}
          value={owner}
          onValue={setOwner}
        />
        <FormError text={action.error} />
        <button type="submit" class="button" disabled={action.isBusy}>
          {t('device.transferDo')}
        </button>
      </form>
    </details>
  );
}

function DeleteDevice({ device }: { readonly device: Device }): JSX.Element {
  const { route } = useLocation();
  const action = useAction();
  const [isAsking, setAsking] = useState(false);
  const name = deviceName(device);
  async function remove(): Promise<void> {
    const path = apiPaths.device(device.id);
    const isDone = await action.run(() => api.send({ method: 'DELETE', path }));
    setAsking(false);
    if (!isDone) return;
    showToast(t('device.deleted', { name }));
    route('/', true);
  }
  return (
    <div class="stack-tight">
      <button type="button" class="button button-danger tiles-add" onClick={() => setAsking(true)}>
        <Icon name="trash" />
        {t('device.deleteDevice')}
      </button>
      <FormError text={action.error} />
      {isAsking && (
        <ConfirmDialog
          title={t('device.deleteDevice')}
          text={t('device.deleteDeviceText', { name })}
          action={t('common.delete')}
          isBusy={action.isBusy}
          onConfirm={remove}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  );
}
