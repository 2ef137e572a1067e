import type { JSX } from 'preact';
import { screenPaths } from '../../api/paths.ts';
import type { Device } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import type { ScreenProps } from '../../shell/screen.ts';
import { useSharingProjects } from '../../state/audience.ts';
import { username } from '../../state/session.ts';
import { deviceName } from '../../ui/value.tsx';
import { Grants } from '../sharing/grants.tsx';
import { Invite } from '../sharing/invite.tsx';
import { DevicePart } from './device-part.tsx';

/** Who may do what with a device. */
export function DeviceShare({ params }: ScreenProps): JSX.Element {
  return (
    <DevicePart
      id={params['device'] ?? ''}
      title={(device) => t('sharing.title', { name: deviceName(device) })}
    >
      {({ device, rights }) =>
        rights.shares ? (
          <DeviceGrants device={device} />
        ) : (
          <p class="note">{t('sharing.ownerOnly')}</p>
        )
      }
    </DevicePart>
  );
}

function DeviceGrants({ device }: { readonly device: Device }): JSX.Element {
  const { id, visibility, owner } = device;
  const sharing = useSharingProjects(owner === username.value ? id : undefined).value ?? [];
  const alone =
    sharing.length > 0
      ? 'sharing.nobodyBesides'
      : visibility === 'private'
        ? 'sharing.nobodyPrivate'
        : 'sharing.nobodyPublic';
  return (
    <>
      <Grants thing={{ kind: 'device', id, aloneText: t(alone) }}>
        <Invite thing={{ kind: 'device', id }} />
      </Grants>
      {sharing.length > 0 && (
        <section class="stack-tight" aria-labelledby="by-projects">
          <h2 id="by-projects">{t('sharing.byProjects')}</h2>
          <ul class="menu">
            {sharing.map(({ project, grants }) => (
              <li key={project.id}>
                <a href={`${screenPaths.project(project.id)}/share`} class="row">
                  <span class="grow">{deviceName(project)}</span>
                  <span class="quiet">{t('sharing.withSoMany', { count: grants.length })}</span>
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
