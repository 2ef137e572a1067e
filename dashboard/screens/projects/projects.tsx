import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { apiPaths, screenPaths } from '../../api/paths.ts';
import type { Project } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorBox } from '../../ui/error-box.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { deviceName } from '../../ui/value.tsx';

const projectsMax = 1_000;

/** The projects one may see. */
export function Projects(): JSX.Element {
  const [isAdding, setAdding] = useState(false);
  const { value, error, reload } = useResource(`projects ${username.value}`, (signal) =>
    api.getJson<readonly Project[]>({
      path: apiPaths.projects,
      query: { limit: projectsMax },
      signal,
    }),
  );
  return (
    <div class="stack">
      <header class="screen-head">
        <h1>{t('shell.projects')}</h1>
        <button type="button" class="button" onClick={() => setAdding(true)}>
          <Icon name="plus" />
          {t('projects.add')}
        </button>
      </header>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton height={200} />}
      {value?.length === 0 && (
        <div class="empty">
          <h2>{t('projects.none')}</h2>
          <p>{t('projects.noneText')}</p>
        </div>
      )}
      {value !== undefined && (
        <ul class="cards">
          {value.map((project) => (
            <li key={project.id}>
              <ProjectCard project={project} />
            </li>
          ))}
        </ul>
      )}
      {isAdding && <NewProject onClose={() => setAdding(false)} />}
    </div>
  );
}

function ProjectCard({ project }: { readonly project: Project }): JSX.Element {
  return (
    <a class="card is-low" href={screenPaths.project(project.id)}>
      <span class="card-name">{deviceName(project)}</span>
      <span class="quiet small">
        {t('projects.counts', {
          devices: t('common.devices', { count: project.device_ids.length }),
          gateways: t('projects.gatewayCount', { count: project.gateway_ids.length }),
        })}
        {project.owner !== username.value && <> · {t('gateways.owner', { name: project.owner })}</>}
      </span>
    </a>
  );
}

function NewProject({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const [name, setName] = useState('');
  const action = useAction();
  const { route } = useLocation();
  async function add(event: Event): Promise<void> {
    event.preventDefault();
    if (name.trim() === '') {
      action.fail(t('projects.nameMissing'));
      return;
    }
    let id = '';
    const isDone = await action.run(async () => {
      const json = { name: name.trim(), device_ids: [], gateway_ids: [] };
      id = await api.send({ method: 'POST', path: apiPaths.projects, json });
    });
    if (isDone) route(screenPaths.project(id));
  }
  return (
    <Dialog title={t('projects.add')} onClose={onClose}>
      <form class="form" onSubmit={add} noValidate>
        <TextField label={t('projects.name')} value={name} onValue={setName} />
        <FormError text={action.error} />
        <button type="submit" class="button button-main" disabled={action.isBusy}>
          {t('projects.add')}
        </button>
      </form>
    </Dialog>
  );
}
