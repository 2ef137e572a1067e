import type { JSX } from 'preact';
import { formatDate } from '../../i18n/formats.ts';
import { language, t } from '../../i18n/i18n.ts';
import { BlankSelect } from './blanks.tsx';

/** Until when an alert is in force: for ever, or to the end of a day. */
export function UntilBlank(props: {
  readonly until: string;
  readonly onUntil: (until: string) => void;
}): JSX.Element {
  const { until, onUntil } = props;
  if (until === '') {
    return (
      <BlankSelect
        label={t('alerts.end')}
        value="never"
        options={[
          { value: 'never', label: t('alerts.noEnd') },
          { value: 'day', label: t('alerts.endDay') },
        ]}
        onValue={(choice) => choice === 'day' && onUntil(endOfDay(inAMonth()))}
      />
    );
  }
  const at = Date.parse(until);
  return (
    <>
      <input
        class="blank"
        type="date"
        max="9999-12-31"
        aria-label={t('alerts.end')}
        value={Number.isNaN(at) ? '' : dayOf(at)}
        onInput={({ currentTarget }) =>
          onUntil(currentTarget.value === '' ? '' : endOfDay(currentTarget.value))
        }
      />{' '}
      <button type="button" class="button button-quiet" onClick={() => onUntil('')}>
        {t('alerts.removeEnd')}
      </button>
      {Number.isNaN(at) && <span class="quiet small"> ({until})</span>}
      {!Number.isNaN(at) && at < Date.now() && (
        <span class="field-error">
          {' '}
          {t('alerts.ended', { date: formatDate(at, { language: language.value, style: 'day' }) })}
        </span>
      )}
    </>
  );
}

const inAMonth = (): string => dayOf(Date.now() + 30 * 86_400_000);

/** The last second of a day on the clock of the browser, as the API takes it. */
function endOfDay(day: string): string {
  const at = Date.parse(`${day}T23:59:59`);
  // A year of five digits is no day that Date reads.
  return Number.isNaN(at) ? '' : new Date(at).toISOString();
}

function dayOf(at: number): string {
  const date = new Date(at);
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
