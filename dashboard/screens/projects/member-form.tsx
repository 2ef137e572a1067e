import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { apiPaths } from '../../api/paths.ts';
import type { Device, Gateway, Project } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { deviceName } from '../../ui/value.tsx';

const offeredMax = 1_000;

interface Offer {
  readonly id: string;
  readonly name: string;
}

/** The name of a project, and what belongs to it. */
export function MemberForm(props: {
  readonly project: Project;
  readonly onDone: () => void;
}): JSX.Element {
  const { project, onDone } = props;
  const [name, setName] = useState(project.name ?? '');
  const [deviceIds, setDeviceIds] = useState(project.device_ids);
  const [gatewayIds, setGatewayIds] = useState(project.gateway_ids);
  const action = useAction();
  async function save(event: Event): Promise<void> {
    event.preventDefault();
    const path = apiPaths.project(project.id);
    const isDone = await action.run(async () => {
      if (name !== (project.name ?? '')) {
        await api.send({ method: 'PUT', path: `${path}/name`, body: name.trim() });
      }
      if (deviceIds !== project.device_ids) {
        await api.send({ method: 'PUT', path: `${path}/device_ids`, json: deviceIds });
      }
      if (gatewayIds !== project.gateway_ids) {
        await api.send({ method: 'PUT', path: `${path}/gateway_ids`, json: gatewayIds });
      }
    });
    if (!isDone) return;
    showToast(t('projects.saved'));
    onDone();
  }
  return (
    <form class="form surface" onSubmit={save} noValidate>
      <TextField label={t('projects.name')} value={name} onValue={setName} />
      <Members kind="devices" chosen={deviceIds} onChosen={setDeviceIds} />
      <Members kind="gateways" chosen={gatewayIds} onChosen={setGatewayIds} />
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

function Members(props: {
  readonly kind: 'devices' | 'gateways';
  readonly chosen: readonly string[];
  readonly onChosen: (ids: readonly string[]) => void;
}): JSX.Element {
  const { kind, chosen, onChosen } = props;
  const { value, error, reload } = useResource(`members ${kind} ${username.value}`, (signal) =>
    loadOffers(kind, signal),
  );
  const toggle = (id: string): void =>
    onChosen(chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id]);
  return (
    <fieldset class="fieldset">
      <legend>{t(`projects.${kind}`)}</legend>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton height={88} />}
      {value?.length === 0 && <p class="quiet">{t('common.nothing')}</p>}
      <div class="members">
        {(value ?? []).map(({ id, name }) => (
          <label class="choice" key={id}>
            <input type="checkbox" checked={chosen.includes(id)} onChange={() => toggle(id)} />
            {name}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** The own ones first: those of others are there to be compared with. */
async function loadOffers(
  kind: 'devices' | 'gateways',
  signal: AbortSignal,
): Promise<readonly Offer[]> {
  const items = await api.getJson<readonly (Device | Gateway)[]>({
    path: apiPaths[kind],
    query: { limit: offeredMax },
    signal,
  });
  const own = items.filter(({ owner }) => owner === username.value);
  const others = items.filter(({ owner }) => owner !== username.value);
  return [...own, ...others].map((item) => ({ id: item.id, name: deviceName(item) }));
}
