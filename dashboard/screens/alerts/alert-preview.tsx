import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { type AlertForm, conditionGap, draftOf, formExpression } from '../../alerts/alert-form.ts';
import { sensorsOf } from '../../alerts/sentence.ts';
import { listsOf } from '../../alerts/value-lists.ts';
import type { Preview } from '../../api/alert-types.ts';
import { ApiError } from '../../api/api-error.ts';
import { errorSentence } from '../../api/error-sentence.ts';
import type { Device, Sensor } from '../../api/types.ts';
import { unitSymbol } from '../../api/unit-symbol.ts';
import { Chart } from '../../charts/lazy-chart.tsx';
import { language, t } from '../../i18n/i18n.ts';
import { api, username } from '../../state/session.ts';
import { deviceName, sensorName } from '../../ui/value.tsx';
import { lineOf } from './device-blank.tsx';

const typingMs = 600;
const monthMs = 30 * 86_400_000;
/** From here on the form and its preview stand side by side. */
const twoColumnsPx = 1_200;
/** The chart's place then. */
const columnPx = 540;
const chartSensorsMax = 4;

interface Tried {
  readonly key: string;
  readonly preview?: Preview;
  readonly error?: unknown;
}

/** What a form would have done in the last month; asked when the typing pauses. */
export function usePreview(form: AlertForm): Tried & { readonly isAsked: boolean } {
  const [tried, setTried] = useState<Tried>({ key: '' });
  const isWhole = conditionGap(form) === undefined;
  const notification = previewDraft(form);
  const key = isWhole ? JSON.stringify(notification) : '';
  useEffect(() => {
    if (key === '') return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      const from = new Date(Date.now() - monthMs).toISOString();
      const json = { notification, from };
      const wanted = { method: 'POST', path: '/notifications/preview', json } as const;
      api
        .getJson<Preview>({ ...wanted, signal: abort.signal })
        .then((preview) => setTried({ key, preview }))
        .catch((error: unknown) => {
          if (!abort.signal.aborted) setTried({ key, error });
        });
    }, typingMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [key]);
  return tried.key === key ? { ...tried, isAsked: key !== '' } : { key, isAsked: key !== '' };
}

/** Only what is watched matters here: a message that is still empty is no reason to wait. */
function previewDraft(form: AlertForm) {
  const draft = draftOf(form);
  const message = form.action.kind === 'message' ? form.action.message.trim() : '';
  const { expires: _end, ...rest } = draft;
  return {
    ...rest,
    action: {
      usernames: [username.value ?? ''],
      channels: ['email'],
      message: message === '' ? '…' : message,
    },
  };
}

/** Whether the service refused the expression; that is said where it is written. */
export const isAboutExpression = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === 'invalid' && error.message.startsWith('expression');

/** How often it would have fired, and when, on the chart of what it watches. */
export function AlertPreview(props: {
  readonly form: AlertForm;
  readonly devices: readonly Device[];
  readonly tried: ReturnType<typeof usePreview>;
}): JSX.Element | null {
  const { form, devices, tried } = props;
  const { preview, error, isAsked } = tried;
  const count = preview?.fired;
  return (
    <section class="surface stack-tight" aria-labelledby="preview">
      <h2 id="preview">{t('alerts.preview')}</h2>
      <p role="status" aria-live="polite">
        {!isAsked && <span class="quiet">{t('alerts.previewLater')}</span>}
        {isAsked && preview === undefined && error === undefined && (
          <span class="quiet">{t('common.loading')}</span>
        )}
        {error !== undefined && !(form.sentence === undefined && isAboutExpression(error)) && (
          <span class="field-error">{errorSentence(error, t)}</span>
        )}
        {count !== undefined && (
          <>
            <strong>{t('alerts.wouldFire', { count })}</strong>
            {preview !== undefined && preview.throttled > 0 && (
              <> {t('alerts.heldBack', { count: preview.throttled })}</>
            )}
            {preview !== undefined && preview.fired > preview.firings.length && (
              <> {t('alerts.marked', { count: preview.firings.length })}</>
            )}
            {preview?.datapoints === 0 && <> {t('alerts.noPast')}</>}
          </>
        )}
      </p>
      {listsOf(formExpression(form)).map((values) => (
        <p key={values.join()} class="note">
          {t('alerts.listed', { values: eitherOf(values) })}
        </p>
      ))}
      {preview?.firings[0]?.message !== undefined &&
        form.action.kind === 'message' &&
        form.action.message.trim() !== '' && (
          <p class="quiet">{t('alerts.firstMessage', { message: preview.firings[0].message })}</p>
        )}
      <PreviewChart form={form} devices={devices} preview={preview} />
    </section>
  );
}

const eitherOf = (values: readonly string[]): string =>
  new Intl.ListFormat(language.value, { type: 'disjunction' }).format(values);

/** What an alert watches, with its line and the marks of when it would have fired. */
export function PreviewChart(props: {
  readonly form: AlertForm;
  readonly devices: readonly Device[];
  readonly preview: Preview | undefined;
}): JSX.Element | null {
  const { form, devices, preview } = props;
  const line = lineOf(form);
  const named = form.sentence === undefined ? [] : sensorsOf(form.sentence);
  const wanted = [...new Set([...named, ...form.otherSensors])];
  const watched = form.devices.length === 0 ? devices : byId(devices, form.devices);
  const key = JSON.stringify([watched.map(({ id }) => id), wanted, line]);
  const sensors = useMemo(
    () =>
      watched
        .flatMap((device) =>
          device.sensors
            .filter(({ id }) => wanted.includes(id))
            .map((sensor) => ({
              deviceId: device.id,
              sensorId: sensor.id,
              name: nameIn(device, sensor, form.devices.length === 1),
              unit: unitSymbol(sensor.unit),
              ...(line?.sensor === sensor.id && { threshold: line.value }),
            })),
        )
        .slice(0, chartSensorsMax),
    [key],
  );
  const firings = useMemo(
    () => (preview?.firings ?? []).map(({ timestamp }) => Date.parse(timestamp)),
    [preview],
  );
  if (sensors.length === 0) return null;
  const shown = sensors.map(({ deviceId, sensorId }) => `${deviceId}/${sensorId}`).join();
  const latest = sensors.map(({ deviceId, sensorId }) => {
    const device = watched.find(({ id }) => id === deviceId);
    return device?.sensors.find(({ id }) => id === sensorId)?.last_value?.value;
  });
  return (
    <Chart
      key={shown}
      sensors={sensors}
      firings={firings}
      latest={latest}
      initialPreset="month"
      {...(innerWidth >= twoColumnsPx && { roomPx: columnPx })}
    />
  );
}

const nameIn = (device: Device, sensor: Sensor, isOne: boolean): string =>
  isOne
    ? sensorName(sensor)
    : t('common.pair', { name: deviceName(device), value: sensorName(sensor) });

const byId = (devices: readonly Device[], ids: readonly string[]): readonly Device[] =>
  devices.filter(({ id }) => ids.includes(id));
