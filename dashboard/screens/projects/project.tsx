import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { apiPaths, screenPaths } from '../../api/paths.ts';
import type { Device, Project } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import type { ScreenProps } from '../../shell/screen.ts';
import { useAction } from '../../state/action.ts';
import { useAlerts } from '../../state/alerts.ts';
import { withoutPhotos } from '../../state/list-pages.ts';
import { useLiveDevices } from '../../state/live-devices.ts';
import { useResource } from '../../state/resource.ts';
import { api, isAdmin, username } from '../../state/session.ts';
import { isRefused, useStillThere } from '../../state/still-there.ts';
import { showToast } from '../../state/toasts.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';
import { LoadError } from '../../ui/load-error.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { deviceName } from '../../ui/value.tsx';
import { GatewayState } from '../gateways/gateway-state.tsx';
import { DeviceCard } from '../home/device-card.tsx';
import { DevicesMap } from '../map/devices-map.tsx';
import { MemberForm } from './member-form.tsx';
import { ProjectChart } from './project-chart.tsx';
import { ProjectExport } from './project-export.tsx';

/** What belongs together: on one chart, on one map, and one by one. */
export function ProjectScreen({ params }: ScreenProps): JSX.Element {
  const id = params['project'] ?? '';
  const { value, error, reload } = useResource(`project ${username.value} ${id}`, (signal) =>
    api.getJson<Project>({
      path: apiPaths.project(id),
      query: { full: 'true', ...withoutPhotos },
      signal,
    }),
  );
  const isGone = isRefused(error);
  useStillThere(value !== undefined && !isGone ? apiPaths.project(id) : undefined, reload);
  return (
    <div class="stack">
      <a href="/projects" class="back-link">
        <Icon name="back" />
        {t('projects.all')}
      </a>
      {error !== undefined && <LoadError error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton height={320} />}
      {value !== undefined && !isGone && <Known key={value.id} project={value} reload={reload} />}
    </div>
  );
}

function Known(props: { readonly project: Project; readonly reload: () => void }): JSX.Element {
  const { project, reload } = props;
  const isEmpty = project.device_ids.length + project.gateway_ids.length === 0;
  const user = username.value;
  const mayChange = isAdmin.value || project.owner === user || project.owner === 'guest';
  const [isEditing, setEditing] = useState(isEmpty && mayChange);
  const devices = useLiveDevices(project.devices ?? []);
  const gateways = project.gateways ?? [];
  const hidden =
    project.device_ids.length + project.gateway_ids.length - devices.length - gateways.length;
  return (
    <>
      <header class="screen-head">
        <h1>{deviceName(project)}</h1>
        <span class="row">
          {(isAdmin.value || project.owner === user) && (
            <a class="button" href={`${screenPaths.project(project.id)}/share`}>
              <Icon name="share" />
              {t('device.share')}
            </a>
          )}
          {mayChange && !isEditing && (
            <button type="button" class="button" onClick={() => setEditing(true)}>
              {t('projects.choose')}
            </button>
          )}
        </span>
      </header>
      {isEditing && (
        <MemberForm
          project={project}
          onDone={() => {
            setEditing(false);
            reload();
          }}
        />
      )}
      {isEmpty && !isEditing && <p class="quiet">{t('projects.empty')}</p>}
      {devices.length > 0 && <ProjectChart devices={devices} />}
      <ul class="cards">
        {devices.map((device) => (
          <li key={device.id}>
            <DeviceCard device={device} />
          </li>
        ))}
      </ul>
      {gateways.length > 0 && (
        <section class="stack-tight">
          <h2>{t('projects.gateways')}</h2>
          <ul class="menu">
            {gateways.map((gateway) => (
              <li key={gateway.id}>
                <a href={screenPaths.gateway(gateway.id)} class="row">
                  <span class="grow">{deviceName(gateway)}</span>
                  <GatewayState gateway={gateway} />
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
      {hidden > 0 && <p class="quiet small">{t('projects.hidden', { count: hidden })}</p>}
      {devices.some(({ location }) => location !== undefined) && <ProjectMap devices={devices} />}
      {devices.length > 0 && <ProjectExport project={project} />}
      {mayChange && <DeleteProject project={project} />}
    </>
  );
}

/** Where the devices stand, and which of them an alert is about. */
function ProjectMap({ devices }: { readonly devices: readonly Device[] }): JSX.Element {
  const alerts = useAlerts(devices);
  return <DevicesMap devices={devices} alerts={alerts.value} />;
}

function DeleteProject({ project }: { readonly project: Project }): JSX.Element {
  const [isAsking, setAsking] = useState(false);
  const action = useAction();
  const { route } = useLocation();
  async function remove(): Promise<void> {
    const isDone = await action.run(() =>
      api.send({ method: 'DELETE', path: apiPaths.project(project.id) }),
    );
    setAsking(false);
    if (!isDone) return;
    showToast(t('projects.deleted'));
    route('/projects', true);
  }
  return (
    <div>
      <FormError text={action.error} />
      <button type="button" class="button button-danger" onClick={() => setAsking(true)}>
        {t('projects.delete')}
      </button>
      {isAsking && (
        <ConfirmDialog
          title={t('projects.delete')}
          text={t('projects.deleteText', { name: deviceName(project) })}
          action={t('common.delete')}
          isBusy={action.isBusy}
          onConfirm={() => void remove()}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  );
}
