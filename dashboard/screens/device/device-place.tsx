import type { JSX } from 'preact';
import type { Device } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';

/** Where a device stands. */
export function DevicePlace(props: {
  readonly device: Device;
  readonly mayChange: boolean;
  readonly onChange: () => void;
}): JSX.Element | null {
  const { device } = props;
  return (
    <section class="stack-tight" aria-labelledby="place">
      <h2 id="place">{t('device.place')}</h2>
      {device.location === undefined && <p class="quiet">{t('device.noPlace')}</p>}
    </section>
  );
}
