import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { actionOf, formOf } from '../../alerts/alert-form.ts';
import { type Naming, testWords } from '../../alerts/condition-words.ts';
import { readSentence } from '../../alerts/read-sentence.ts';
import { actionWords, conditionWords } from '../../alerts/words.ts';
import type { Notification } from '../../api/alert-types.ts';
import { apiPaths, screenPaths } from '../../api/paths.ts';
import type { Device } from '../../api/types.ts';
import { formatDate } from '../../i18n/formats.ts';
import { language, t } from '../../i18n/i18n.ts';
import { formatRate } from '../../i18n/later-formats.ts';
import { ofService } from '../../i18n/refusals.ts';
import type { ScreenProps } from '../../shell/screen.ts';
import { useAction } from '../../state/action.ts';
import { useAlertDevices } from '../../state/alert-devices.ts';
import { useNaming } from '../../state/alerts.ts';
import { useResource } from '../../state/resource.ts';
import { api, isAdmin, username } from '../../state/session.ts';
import { isRefused, useStillThere } from '../../state/still-there.ts';
import { showToast } from '../../state/toasts.ts';
import '../../state/usual-words.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';
import { LoadError } from '../../ui/load-error.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { PreviewChart } from './alert-preview.tsx';
import { AlertSwitch, Failure, historyWords } from './alerts.tsx';
import { Deliveries } from './deliveries.tsx';
import { Evaluations } from './evaluations.tsx';
import { hasItsWords, Lacks } from './lacks.tsx';

/** Devices that are asked for by their ids, besides the own ones. */
const namedMax = 20;

/** One alert: what it watches, what it sent, and why it did or did not. */
export function AlertScreen({ params }: ScreenProps): JSX.Element {
  const id = params['alert'] ?? '';
  const resource = useResource(`alert ${username.value} ${id}`, (signal) =>
    api.getJson<Notification>({ path: apiPaths.alert(id), signal }),
  );
  const { value, error, reload, set } = resource;
  const isGone = isRefused(error);
  useStillThere(value !== undefined && !isGone ? apiPaths.alert(id) : undefined, reload);
  // Without their names the sentence would speak of ids first.
  const { value: devices } = useAlertDevices(value?.condition.devices.slice(0, namedMax));
  return (
    <div class="stack">
      <a class="back-link" href="/alerts">
        <Icon name="back" />
        {t('alerts.all')}
      </a>
      {error !== undefined && <LoadError error={error} onRetry={reload} />}
      {value !== undefined && hasItsWords(value) && devices !== undefined && !isGone ? (
        <Known key={value.id} alert={value} devices={devices} onChange={set} />
      ) : (
        error === undefined && <Skeleton height={320} />
      )}
    </div>
  );
}

function Known(props: {
  readonly alert: Notification;
  readonly devices: readonly Device[];
  readonly onChange: (alert: Notification) => void;
}): JSX.Element {
  const { alert, devices, onChange } = props;
  const naming = useNaming(devices);
  const said = conditionWords(alert, naming);
  const title = alert.description ?? said;
  const form = useMemo(() => formOf(alert), [alert]);
  const mayChange = alert.owner === username.value || isAdmin.value;
  return (
    <>
      <header class="row row-apart">
        <h1 class="grow">{title}</h1>
        <AlertSwitch alert={alert} label={title} onChange={onChange} />
      </header>
      <section class="surface stack-tight">
        {alert.description !== undefined && <p class="alert-sentence">{said}</p>}
        <MoreWords alert={alert} naming={naming} />
        <p class="quiet small">{historyWords(alert)}</p>
        <Failure alert={alert} />
        <Lacks alert={alert} hasLinks />
        {alert.expression_problem !== undefined && (
          <p class="note">
            {t('alerts.problem', { problem: ofService(alert.expression_problem) })}
          </p>
        )}
      </section>
      {mayChange && <Ways alert={alert} />}
      <PreviewChart form={form} devices={devices} preview={undefined} />
      <Deliveries alert={alert} />
      <Evaluations alert={alert} devices={devices} />
    </>
  );
}

/** What it does, how often, until when, when it is clear. */
function MoreWords(props: { readonly alert: Notification; readonly naming: Naming }): JSX.Element {
  const { alert, naming } = props;
  const { throttling = 0, expires, condition } = alert;
  const clear = readSentence(condition.expression)?.clear;
  const action = actionOf(alert.action);
  const end = expires === undefined ? Number.NaN : Date.parse(expires);
  const date = Number.isNaN(end)
    ? (expires ?? '')
    : formatDate(end, { language: language.value, style: 'day' });
  const limits = [
    ...(clear === undefined
      ? []
      : [t('alerts.sayClear', { test: testWords(clear, condition.devices, naming) })]),
    ...(throttling > 0 ? [t('alerts.sayEvery', { often: formatRate(throttling * 1_000, t) })] : []),
    ...(expires === undefined
      ? []
      : [t(end < Date.now() ? 'alerts.ended' : 'alerts.sayUntil', { date })]),
  ];
  return (
    <>
      <p>{actionWords(alert, naming)}</p>
      {action.kind === 'message' && <p class="quote">{action.message}</p>}
      {limits.length > 0 && <p class="quiet">{limits.join(' · ')}</p>}
    </>
  );
}

function Ways({ alert }: { readonly alert: Notification }): JSX.Element {
  const [isAsking, setAsking] = useState(false);
  const action = useAction();
  const { route } = useLocation();
  async function remove(): Promise<void> {
    const isDone = await action.run(() =>
      api.send({ method: 'DELETE', path: apiPaths.alert(alert.id) }),
    );
    setAsking(false);
    if (!isDone) return;
    showToast(t('alerts.deleted'));
    route('/alerts', true);
  }
  return (
    <div class="row">
      <a class="button" href={`${screenPaths.alert(alert.id)}/edit`}>
        <Icon name="edit" />
        {t('common.edit')}
      </a>
      <button type="button" class="button button-danger" onClick={() => setAsking(true)}>
        <Icon name="trash" />
        {t('common.delete')}
      </button>
      <FormError text={action.error} />
      {isAsking && (
        <ConfirmDialog
          title={t('alerts.delete')}
          text={t('alerts.deleteText')}
          action={t('common.delete')}
          isBusy={action.isBusy}
          onConfirm={() => void remove()}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  );
}
