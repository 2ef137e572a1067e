import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { parseLoosely } from '../../api/exact-json.ts';
import { exact } from '../../api/long-numbers.ts';
import type { Datapoint, Device, Sensor } from '../../api/types.ts';
import { unitSymbol } from '../../api/unit-symbol.ts';
import type { Wrong } from '../../charts/chart-props.ts';
import { fromZoneText, toZoneText, usableZone } from '../../charts/zone.ts';
import { formatDate } from '../../i18n/formats.ts';
import { language, t } from '../../i18n/i18n.ts';
import { formatStored } from '../../i18n/later-formats.ts';
import { calibrated } from '../../live/calibration.ts';
import { useAction } from '../../state/action.ts';
import { useResource } from '../../state/resource.ts';
import { api } from '../../state/session.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorBox } from '../../ui/error-box.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { changeText } from './correction-list.tsx';
import { putRight, type SensorIds, takeAway, valuesPath } from './corrections.ts';
import { likelyWrong, storedFor, timeOf } from './wrong-values.ts';

interface WrongProps {
  readonly device: Device;
  readonly sensor: Sensor;
  readonly wrong: Wrong;
  readonly onChange: () => void;
  readonly onClose: () => void;
}

/** Where somebody says what is wrong: one value, or a stretch of time. */
export function WrongDialog(props: WrongProps): JSX.Element {
  const { wrong, onClose } = props;
  const [isStretch, setStretch] = useState(wrong.mark === undefined);
  return (
    <Dialog title={t('corrections.title')} onClose={onClose}>
      <div class="stack">
        {wrong.mark !== undefined && (
          <fieldset class="segments" aria-label={t('corrections.title')}>
            {[false, true].map((kind) => (
              <button
                key={String(kind)}
                type="button"
                class="segment"
                aria-pressed={isStretch === kind}
                onClick={() => setStretch(kind)}
              >
                {t(kind ? 'corrections.stretch' : 'corrections.one')}
              </button>
            ))}
          </fieldset>
        )}
        {isStretch ? <Stretch {...props} /> : <OneValue {...props} mark={wrong.mark} />}
      </div>
    </Dialog>
  );
}

const idsOf = ({ device, sensor }: WrongProps): SensorIds => ({
  device: device.id,
  sensor: sensor.id,
});

/** More than these are not looked through one by one. */
const listedMax = 20;

const iso = (at: number): string => new Date(at).toISOString();

function OneValue(props: WrongProps & { readonly mark: Wrong['mark'] }): JSX.Element {
  const { sensor, mark = { from: 0, to: 0 } } = props;
  const [now] = useState(() => Date.now());
  const ids = idsOf(props);
  const { value, error, reload } = useResource(
    `wrong ${ids.device} ${ids.sensor} ${mark.from} ${mark.to} ${now}`,
    (signal) =>
      api.getJson<readonly Datapoint[]>({
        path: valuesPath(ids),
        query: {
          ...{ dateFrom: iso(mark.from), dateTo: iso(mark.to) },
          ...{ calibrated: 'false', limit: listedMax + 1 },
        },
        signal,
      }),
  );
  if (error !== undefined) return <ErrorBox error={error} onRetry={reload} />;
  if (value === undefined) return <Skeleton height={180} />;
  if (value.length === 0) return <p>{t('corrections.nothing')}</p>;
  if (value.length > listedMax) return <p>{t('corrections.tooMany')}</p>;
  const shown = value.map((datapoint) => ({
    datapoint,
    value: calibrated(datapoint.value, sensor.calib),
  }));
  return <ChosenValue {...props} shown={shown} />;
}

interface Shown {
  readonly datapoint: Datapoint;
  /** As it is drawn: calibrated. */
  readonly value: unknown;
}

function ChosenValue(props: WrongProps & { readonly shown: readonly Shown[] }): JSX.Element {
  const { device, sensor, shown, onChange, onClose } = props;
  const ids = idsOf(props);
  const [chosen, setChosen] = useState(() => likelyWrong(shown.map(({ value }) => value)));
  const [text, setText] = useState('');
  const action = useAction();
  const one = shown[chosen] ?? shown[0];
  if (one === undefined) return <p>{t('corrections.nothing')}</p>;
  const { datapoint } = one;
  const at = timeOf(datapoint);

  async function remove(): Promise<void> {
    const isTwin = shown.filter((other) => timeOf(other.datapoint) === at).length > 1;
    const query = {
      ...{ dateFrom: at, dateTo: at },
      ...(isTwin && { value: exact.json(datapoint.value) }),
    };
    if (await action.run(() => takeAway(ids, query, onChange))) onClose();
  }

  async function correct(event: Event): Promise<void> {
    event.preventDefault();
    if (text.trim() === '') return;
    const after = parseLoosely(text);
    const value = storedFor(after, sensor.calib);
    if (value === undefined) {
      action.fail(t('corrections.unreachable'));
      return;
    }
    const { timestamp } = datapoint;
    const where = timestamp === undefined ? { date_received: at } : { timestamp };
    const change = changeText({ before: one?.value, after }, unitSymbol(sensor.unit));
    const item = { ...where, value };
    if (await action.run(() => putRight(ids, item, { change, onChange }))) onClose();
  }

  return (
    <form class="stack" onSubmit={correct} noValidate>
      <ValueChoice {...{ shown, chosen, sensor }} zone={device.timezone} onChoose={setChosen} />
      <TextField
        label={t('corrections.rightValue')}
        inputMode={typeof one.value === 'number' ? 'decimal' : 'text'}
        autocomplete="off"
        value={text}
        onValue={setText}
      />
      <FormError text={action.error} />
      <div class="dialog-actions">
        <button
          type="button"
          class="button button-danger"
          disabled={action.isBusy}
          onClick={() => void remove()}
        >
          {t('corrections.takeAway')}
        </button>
        <button
          type="submit"
          class="button button-main"
          disabled={action.isBusy || text.trim() === ''}
        >
          {t('corrections.putRight')}
        </button>
      </div>
    </form>
  );
}

/** The values at that time: one as a sentence, several to choose from. */
function ValueChoice(props: {
  readonly shown: readonly Shown[];
  readonly chosen: number;
  readonly sensor: Sensor;
  readonly zone: string | undefined;
  readonly onChoose: (index: number) => void;
}): JSX.Element {
  const { shown, chosen, sensor, onChoose } = props;
  const zone = usableZone(props.zone);
  const textOf = ({ datapoint, value }: Shown): JSX.Element => {
    const when = Date.parse(timeOf(datapoint));
    return (
      <>
        <strong class="number">
          {`${formatStored(value, language.value, t)} ${unitSymbol(sensor.unit)}`.trim()}
        </strong>{' '}
        <span class="quiet number">
          {formatDate(when, { language: language.value, style: 'precise', zone })}
        </span>
      </>
    );
  };
  const list = useRef<HTMLFieldSetElement>(null);
  // The likely one may be further down.
  useEffect(() => {
    list.current?.querySelector('input:checked')?.scrollIntoView({ block: 'nearest' });
  }, []);
  const [only] = shown;
  if (only !== undefined && shown.length === 1) return <p class="wrong-value">{textOf(only)}</p>;
  return (
    <fieldset class="wrong-values" ref={list} aria-label={t('corrections.which')}>
      {shown.map((one, index) => (
        <label class="choice" key={index}>
          <input
            type="radio"
            name="wrong"
            checked={index === chosen}
            onChange={() => onChoose(index)}
          />
          <span>{textOf(one)}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Stretch(props: WrongProps): JSX.Element {
  const { device, wrong, onChange, onClose } = props;
  const ids = idsOf(props);
  const zone = usableZone(device.timezone);
  const start = wrong.mark ?? wrong.range;
  const [from, setFrom] = useState(toZoneText(start.from, zone));
  const [to, setTo] = useState(toZoneText(start.to, zone));
  const action = useAction();
  const [first, last] = [fromZoneText(from, zone), fromZoneText(to, zone)];
  const isGood = first !== undefined && last !== undefined && first <= last;
  // What a clock without seconds says lasts for a minute.
  const query = isGood ? { dateFrom: iso(first), dateTo: iso(last + minuteMs - 1) } : undefined;
  const count = useCount(ids, query);

  async function remove(event: Event): Promise<void> {
    event.preventDefault();
    if (query === undefined) return;
    if (await action.run(() => takeAway(ids, query, onChange))) onClose();
  }

  return (
    <form class="stack" onSubmit={remove} noValidate>
      <div class="row">
        <TextField label={t('chart.from')} type="datetime-local" value={from} onValue={setFrom} />
        <TextField label={t('chart.to')} type="datetime-local" value={to} onValue={setTo} />
      </div>
      <p class="quiet" aria-live="polite">
        {isGood
          ? count === undefined
            ? t('common.loading')
            : t('corrections.inStretch', { count })
          : t('chart.badRange')}
      </p>
      <FormError text={action.error} />
      <div class="dialog-actions">
        <button type="button" class="button" onClick={onClose}>
          {t('common.cancel')}
        </button>
        <button
          type="submit"
          class="button button-danger"
          disabled={action.isBusy || !isGood || count === 0}
        >
          {t('corrections.takeAway')}
        </button>
      </div>
    </form>
  );
}

const minuteMs = 60_000;

/** How many values there are in a stretch of time; undefined until that is known. */
function useCount(
  ids: SensorIds,
  query: { readonly dateFrom: string; readonly dateTo: string } | undefined,
): number | undefined {
  const [count, setCount] = useState<number>();
  useEffect(() => {
    setCount(undefined);
    if (query === undefined) return;
    const abort = new AbortController();
    const { signal } = abort;
    api
      .getPage<Datapoint>({ path: valuesPath(ids), query: { ...query, limit: 0 }, signal })
      .then(({ total }) => setCount(total))
      .catch(() => undefined);
    return () => abort.abort();
  }, [query?.dateFrom, query?.dateTo]);
  return count;
}
