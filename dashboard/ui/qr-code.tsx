import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Skeleton } from './skeleton.tsx';

/** An address as a picture for cameras; what draws it is fetched when it is first shown. */
export function QrCode({ text }: { readonly text: string }): JSX.Element {
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
