import type { JSX } from 'preact';
import { screenPaths } from '../../api/paths.ts';
import { t } from '../../i18n/i18n.ts';
import type { ScreenProps } from '../../shell/screen.ts';
import { QrCode } from '../../ui/qr-code.tsx';
import { Refusals } from '../../ui/refusals.tsx';
import { SnippetsPanel } from '../../ui/snippets-panel.tsx';
import { DevicePart } from './device-part.tsx';

/** How this device sends its values. */
export function DeviceSend({ params }: ScreenProps): JSX.Element {
  return (
    <DevicePart id={params['device'] ?? ''} title={() => t('send.title')}>
      {({ device }) => (
        <>
          <p class="quiet">{t('send.text')}</p>
          <SnippetsPanel device={device} />
          <Refusals device={device} />
          <section class="stack-tight" aria-labelledby="qr">
            <h2 id="qr">{t('send.qr')}</h2>
            <p class="quiet">{t('send.qrText')}</p>
            <QrCode text={location.origin + screenPaths.device(device.id)} />
          </section>
        </>
      )}
    </DevicePart>
  );
}
