import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { screenPaths } from '../../api/paths.ts';
import { t } from '../../i18n/i18n.ts';
import type { ScreenProps } from '../../shell/screen.ts';
import { Refusals } from '../../ui/refusals.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
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

function QrCode({ text }: { readonly text: string }): JSX.Element {
  const [code, setCode] = useState<{ readonly size: number; readonly path: string }>();
  useEffect(() => {
    let isCurrent = true;
    void import('uqr').then(({ encode }) => {
      const { data, size } = encode(text, { border: 2 });
      const path = data
        .map((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')).join(''))
        .join('');
      if (isCurrent) setCode({ size, path });
    });
    return () => {
      isCurrent = false;
    };
  }, [text]);
  if (code === undefined) return <Skeleton height={220} width="220px" />;
  return (
    <svg class="qr" viewBox={`0 0 ${code.size} ${code.size}`} role="img" aria-label={text}>
      <path d={code.path} />
    </svg>
  );
}
