import type { JSX } from 'preact';
import { formatAge } from '../i18n/formats.ts';
import { t } from '../i18n/i18n.ts';
import { now } from '../state/clock.ts';
import type { Resource } from '../state/resource.ts';

/** Says that what shows is only remembered, and offers to try again. */
export function Remembered({
  resource,
}: {
  readonly resource: Pick<Resource<unknown>, 'rememberedFrom' | 'reload'>;
}): JSX.Element | null {
  const { rememberedFrom, reload } = resource;
  if (rememberedFrom === undefined) return null;
  return (
    <div class="note row row-apart" role="status">
      <span>{t('shell.remembered', { age: formatAge(rememberedFrom, now.value, t) })}</span>
      <button type="button" class="button" onClick={reload}>
        {t('common.retry')}
      </button>
    </div>
  );
}
