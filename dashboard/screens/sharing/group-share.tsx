import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { apiPaths, screenPaths } from '../../api/paths.ts';
import type { Gateway, Project } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import type { ScreenProps } from '../../shell/screen.ts';
import { useResource } from '../../state/resource.ts';
import { api, isAdmin, isRoleKnown, username } from '../../state/session.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { deviceName } from '../../ui/value.tsx';
import { Grants } from './grants.tsx';
import { Invite } from './invite.tsx';
import { ProjectReach } from './project-reach.tsx';

/** Who may do what with a gateway. */
export const GatewayShare = ({ params }: ScreenProps): JSX.Element => (
  <GroupShare kind="gateway" id={params['gateway'] ?? ''} />
);

/** Who may do what with a project. */
export const ProjectShare = ({ params }: ScreenProps): JSX.Element => (
  <GroupShare kind="project" id={params['project'] ?? ''} />
);

function GroupShare(props: {
  readonly kind: 'gateway' | 'project';
  readonly id: string;
}): JSX.Element {
  const { kind, id } = props;
  const user = username.value;
  const { value, error, reload } = useResource(`${kind} name ${user} ${id}`, (signal) =>
    api.getJson<Gateway | Project>({ path: apiPaths[kind](id), signal }),
  );
  const name = value === undefined ? id : deviceName(value);
  const title = t('sharing.title', { name });
  useEffect(() => {
    document.title = `${title} · Kipimo`;
  }, [title]);
  const mayShare = value !== undefined && (isAdmin.value || value.owner === user);
  const people = mayShare ? (
    <Grants thing={{ kind, id, aloneText: t('sharing.nobody') }}>
      {kind === 'project' && <Invite thing={{ kind, id }} />}
    </Grants>
  ) : isRoleKnown.value ? (
    <p class="note">{t('sharing.ownerDecides')}</p>
  ) : (
    <Skeleton height={80} />
  );
  return (
    <div class="stack">
      <a class="back-link" href={screenPaths[kind](id)}>
        <Icon name="back" />
        {t('device.backToDevice', { name })}
      </a>
      <h1>{title}</h1>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton height={200} />}
      {value !== undefined && 'device_ids' in value && (
        <ProjectReach project={value} onChanged={reload}>
          {people}
        </ProjectReach>
      )}
      {value !== undefined && !('device_ids' in value) && people}
    </div>
  );
}
