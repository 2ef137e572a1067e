import type { JSX } from 'preact';
import { t } from '../../i18n/i18n.ts';
import type { ScreenProps } from '../../shell/screen.ts';
import { CsvDownload } from './csv-download.tsx';
import { CsvUpload } from './csv-upload.tsx';
import { DevicePart } from './device-part.tsx';

/** Values of a device as files: out, and in. */
export function DeviceData({ params }: ScreenProps): JSX.Element {
  return (
    <DevicePart id={params['device'] ?? ''} title={() => t('data.title')}>
      {({ device, rights }) => (
        <>
          <section class="surface stack" aria-labelledby="download">
            <h2 id="download">{t('data.downloadTitle')}</h2>
            <CsvDownload device={device} />
          </section>
          {rights.sends && device.sensors.length > 0 && (
            <section class="surface stack" aria-labelledby="upload">
              <h2 id="upload">{t('data.uploadTitle')}</h2>
              <CsvUpload device={device} />
            </section>
          )}
        </>
      )}
    </DevicePart>
  );
}
