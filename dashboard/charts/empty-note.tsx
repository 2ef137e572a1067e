import type { JSX } from 'preact';
import { formatDate } from '../i18n/formats.ts';
import { language, t } from '../i18n/i18n.ts';

/** Says that there is nothing in the range, and the way to where there is. */
export function EmptyNote(props: {
  readonly lastAt: number | undefined;
  readonly zone: string;
  readonly onShow: (at: number) => void;
}): JSX.Element {
  const { lastAt, zone, onShow } = props;
  return (
    <div class="chart-empty">
      <p>{t('chart.empty')}</p>
      {lastAt !== undefined && (
        <>
          <p class="small quiet">
            {t('chart.emptyEarlier', {
              when: formatDate(lastAt, { language: language.value, style: 'day', zone }),
            })}
          </p>
          <button type="button" class="button" onClick={() => onShow(lastAt)}>
            {t('chart.goToLast')}
          </button>
        </>
      )}
    </div>
  );
}
