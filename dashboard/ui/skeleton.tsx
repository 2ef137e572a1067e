import type { JSX } from 'preact';
import { t } from '../i18n/i18n.ts';

/** A grey place-holder of the size of what is to come. */
export function Skeleton({
  height,
  width = '100%',
}: {
  readonly height: number;
  readonly width?: string;
}): JSX.Element {
  return <span class="skeleton" style={{ height: `${height}px`, width }} aria-hidden="true" />;
}

/** A screen whose code is still on its way. */
export function ScreenSkeleton(): JSX.Element {
  return (
    <div class="stack" role="status">
      <span class="unseen">{t('common.loading')}</span>
      <Skeleton height={30} width="40%" />
      <Skeleton height={96} />
      <Skeleton height={96} />
    </div>
  );
}
