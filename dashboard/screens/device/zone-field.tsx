import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { isZone, ownZone } from '../../charts/zone.ts';
import { formatDate } from '../../i18n/formats.ts';
import { language, t } from '../../i18n/i18n.ts';
import { now } from '../../state/clock.ts';
import { Field } from '../../ui/field.tsx';

/** The zone that the days of a device are cut in; empty: that of whoever looks. */
export function ZoneField(props: {
  readonly label?: string;
  readonly hint?: string;
  readonly value: string;
  readonly onValue: (zone: string) => void;
}): JSX.Element {
  const { value, onValue, label = t('device.zone'), hint = zoneHint(value.trim()) } = props;
  const listId = useId();
  const own = ownZone();
  return (
    <>
      <Field
        label={label}
        hint={hint}
        isOptional
        control={(ids) => (
          <>
            <input
              {...ids}
              class="input"
              type="text"
              list={listId}
              placeholder="Africa/Dakar"
              autocomplete="off"
              autocapitalize="none"
              spellcheck={false}
              value={value}
              onInput={(event) => onValue(event.currentTarget.value)}
            />
            <datalist id={listId}>
              {knownZones().map((zone) => (
                <option key={zone} value={zone} />
              ))}
            </datalist>
          </>
        )}
      />
      {value === '' && (
        <button type="button" class="button button-quiet tiles-add" onClick={() => onValue(own)}>
          {t('device.zoneOwn', { zone: own })}
        </button>
      )}
    </>
  );
}

/** What the clock there says tells best whether it is the zone that was meant. */
function zoneHint(zone: string): string {
  if (zone === '' || !isZone(zone)) return t('device.zoneHint');
  const time = formatDate(now.value, { language: language.value, style: 'moment', zone });
  return t('device.zoneNow', { time });
}

/** Zones to pick from; none in browsers that do not tell them. */
function knownZones(): readonly string[] {
  return typeof Intl.supportedValuesOf === 'function' ? Intl.supportedValuesOf('timeZone') : [];
}
