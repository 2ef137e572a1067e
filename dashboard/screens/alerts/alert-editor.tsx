import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type AlertForm, formExpression, gapOf, proposedMessage } from '../../alerts/alert-form.ts';
import { sensorOf } from '../../alerts/condition-words.ts';
import { readSentence } from '../../alerts/read-sentence.ts';
import { sensorsOf } from '../../alerts/sentence.ts';
import { errorSentence } from '../../api/error-sentence.ts';
import type { Device } from '../../api/types.ts';
import { unitSymbol } from '../../api/unit-symbol.ts';
import { t } from '../../i18n/i18n.ts';
import { formatRate } from '../../i18n/later-formats.ts';
import { useAction } from '../../state/action.ts';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { deviceName, sensorName } from '../../ui/value.tsx';
import { ActionForm } from './action-form.tsx';
import { AlertPreview, isAboutExpression, usePreview } from './alert-preview.tsx';
import { Blanks, BlankTime } from './blanks.tsx';
import { ConditionForm } from './condition-form.tsx';
import { DeviceBlank, type Parts } from './device-blank.tsx';
import { ExpressionField } from './expression-field.tsx';
import { UntilBlank } from './until-blank.tsx';

/** The form of an alert: one sentence with blanks, and what it would have done. */
export function AlertEditor(props: {
  readonly first: AlertForm;
  readonly devices: readonly Device[];
  readonly submit: string;
  readonly onSave: (form: AlertForm) => Promise<void>;
}): JSX.Element {
  const { devices, submit, onSave } = props;
  const [own, setForm] = useState(props.first);
  // Until somebody writes a message, it follows what is watched.
  const form = withMessage(own, devices);
  const action = useAction();
  const tried = usePreview(form);

  async function save(event: Event): Promise<void> {
    event.preventDefault();
    const gap = gapOf(form, Date.now());
    if (gap !== undefined) return action.fail(t(`alerts.gap-${gap}`));
    await action.run(() => onSave(form));
  }

  const change = (next: AlertForm): void => {
    action.fail(undefined);
    setForm(withOwnMessage(next, form, own));
  };
  const parts: Parts = { form, devices, onForm: change };
  return (
    <form class="alert-editor" onSubmit={save} noValidate>
      <div class="stack">
        <section class="surface stack-tight">
          <Watching {...parts} error={tried.error} />
        </section>
        <section class="surface stack-tight">
          <ActionForm {...parts} />
        </section>
        <section class="surface stack-tight">
          <p class="sentence">
            <Blanks
              text={t('alerts.formLimits')}
              blanks={{
                every: (
                  <BlankTime
                    label={t('alerts.howOften')}
                    seconds={form.everySeconds}
                    none={t('alerts.everyTime')}
                    say={(ms) => t('alerts.everySpan', { often: formatRate(ms, t) })}
                    onSeconds={(everySeconds) => change({ ...form, everySeconds })}
                  />
                ),
                until: (
                  <UntilBlank until={form.until} onUntil={(until) => change({ ...form, until })} />
                ),
              }}
            />
          </p>
          <TextField
            label={t('alerts.name')}
            isOptional
            maxLength={200}
            value={form.description}
            onValue={(description) => change({ ...form, description })}
          />
        </section>
      </div>
      <AlertPreview form={form} devices={devices} tried={tried} />
      <div class="stack-tight">
        <FormError text={action.error} />
        <div class="row">
          <button type="submit" class="button button-main" disabled={action.isBusy}>
            {submit}
          </button>
          <a class="button" href="/alerts">
            {t('common.cancel')}
          </a>
        </div>
      </div>
    </form>
  );
}

/** The sentence, or the expression itself where somebody wants to write it. */
function Watching(props: Parts & { readonly error: unknown }): JSX.Element {
  const { form, onForm, error } = props;
  const { sentence } = form;
  const refused = isAboutExpression(error) ? error : undefined;
  const canRead = readSentence(form.expression) !== undefined;
  const switchOver = (): void => {
    if (sentence !== undefined) {
      const named = sensorsOf(sentence);
      const expression = formExpression(form);
      const otherSensors = [...new Set([...named, ...form.otherSensors])];
      onForm({ ...form, expression, otherSensors, sentence: undefined });
      return;
    }
    const read = readSentence(form.expression);
    if (read === undefined) return;
    const named = sensorsOf(read);
    const otherSensors = form.otherSensors.filter((sensor) => !named.includes(sensor));
    onForm({ ...form, sentence: read, otherSensors });
  };
  return (
    <>
      {sentence === undefined ? (
        <>
          <p class="sentence">
            <Blanks
              text={t('alerts.formExpression')}
              blanks={{ device: <DeviceBlank {...props} /> }}
            />
          </p>
          <ExpressionField
            text={form.expression}
            refusal={refused && errorSentence(refused, t)}
            at={refused?.exact?.params['at']}
            onText={(expression) => onForm({ ...form, expression, otherSensors: [] })}
          />
        </>
      ) : (
        <p class="sentence">
          <ConditionForm {...props} sentence={sentence} />
        </p>
      )}
      {sentence === undefined && !canRead ? (
        <p class="field-hint">{t('alerts.onlyExpression')}</p>
      ) : (
        <button type="button" class="button button-quiet tiles-add" onClick={switchOver}>
          {t(sentence === undefined ? 'alerts.asSentence' : 'alerts.asExpression')}
        </button>
      )}
    </>
  );
}

/** Proposes a message as long as there is none. */
function withMessage(form: AlertForm, devices: readonly Device[]): AlertForm {
  const { action, sentence } = form;
  if (action.kind !== 'message' || action.message !== '') return form;
  const id = sentence?.conditions[0]?.sensor ?? form.otherSensors[0] ?? '';
  const sensor = sensorOf(id, form.devices, devices);
  if (sensor === undefined) return form;
  const named = { id, name: sensorName(sensor) };
  const proposal = proposedMessage(named, unitSymbol(sensor.unit));
  const [only, ...more] = form.devices;
  const device = devices.find((one) => one.id === only);
  const isOne = device !== undefined && more.length === 0;
  const message = isOne ? proposal.replace(`$\{id}`, () => deviceName(device)) : proposal;
  return { ...form, action: { ...action, message } };
}

/** Keeps a proposed message out of the form, so that it goes on following the sentence. */
function withOwnMessage(next: AlertForm, shown: AlertForm, own: AlertForm): AlertForm {
  const { action } = next;
  const isProposed =
    own.action.kind === 'message' &&
    own.action.message === '' &&
    shown.action.kind === 'message' &&
    action.kind === 'message' &&
    action.message === shown.action.message;
  return isProposed ? { ...next, action: { ...action, message: '' } } : next;
}
