import type { JSX } from 'preact';
import { t } from '../../i18n/i18n.ts';
import type { ScreenProps } from '../../shell/screen.ts';
import { deviceName } from '../../ui/value.tsx';
import { Grants } from '../sharing/grants.tsx';
import { DevicePart } from './device-part.tsx';

/** Who may do what with a device. */
export function DeviceShare({ params }: ScreenProps): JSX.Element {
  return (
    <DevicePart
      id={params['device'] ?? ''}
      title={(device) => t('sharing.title', { name: deviceName(device) })}
    >
      {({ device: { id, visibility }, rights }) => {
        const alone = visibility === 'private' ? 'sharing.nobodyPrivate' : 'sharing.nobodyPublic';
        return rights.shares ? (
          <Grants thing={{ kind: 'device', id, aloneText: t(alone) }} />
        ) : (
          <p class="note">{t('sharing.ownerOnly')}</p>
        );
      }}
    </DevicePart>
  );
}
