import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { idFromName, isId } from '../../api/id-check.ts';
import { apiPaths, screenPaths } from '../../api/paths.ts';
import type { Actuator, ActuatorValueType } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import type { ScreenProps } from '../../shell/screen.ts';
import { useAction } from '../../state/action.ts';
import { api } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';
import { sensorName } from '../../ui/value.tsx';
import { DevicePart, type KnownDevice } from './device-part.tsx';

/** An actuator more on a device. */
export function NewActuator({ params }: ScreenProps): JSX.Element {
  return (
    <DevicePart id={params['device'] ?? ''} title={() => t('device.addActuator')}>
      {(known) => <ActuatorForm known={known} />}
    </DevicePart>
  );
}

/** What an actuator is, and the end of it. */
export function ActuatorScreen({ params }: ScreenProps): JSX.Element {
  const id = params['actuator'] ?? '';
  return (
    <DevicePart
      id={params['device'] ?? ''}
      title={(device) => sensorName(device.actuators.find((found) => found.id === id) ?? { id })}
    >
      {(known) => {
        const actuator = known.device.actuators.find((candidate) => candidate.id === id);
        if (actuator === undefined) return <p class="note">{t('errors.notFound')}</p>;
        return (
          <>
            <ActuatorForm known={known} actuator={actuator} />
            <DeleteActuator known={known} actuator={actuator} />
          </>
        );
      }}
    </DevicePart>
  );
}

const types = ['bool', 'number', 'string', 'object'] as const;
type OfferedType = (typeof types)[number];

const offeredType = (type: ActuatorValueType | undefined): OfferedType =>
  types.find((offered) => offered === type) ?? (type === undefined ? 'bool' : 'object');

function ActuatorForm({
  known,
  actuator,
}: {
  readonly known: KnownDevice;
  readonly actuator?: Actuator;
}): JSX.Element {
  const { device, reload } = known;
  const { route } = useLocation();
  const action = useAction();
  const [name, setName] = useState(actuator?.name ?? '');
  const [id, setId] = useState(actuator?.id ?? '');
  const [hasOwnId, setOwnId] = useState(false);
  const [kind, setKind] = useState(actuator?.actuator_kind ?? '');
  const [type, setType] = useState(offeredType(actuator?.actuator_value_type));

  async function save(event: Event): Promise<void> {
    event.preventDefault();
    if (!isId(id)) return action.fail(t(id === '' ? 'device.idNeeded' : 'device.idBad'));
    if (actuator === undefined && device.actuators.some((other) => other.id === id)) {
      return action.fail(t('device.idTaken'));
    }
    const json = {
      ...actuator,
      id,
      ...(name.trim() !== '' && { name: name.trim() }),
      ...(kind.trim() !== '' && { actuator_kind: kind.trim() }),
      actuator_value_type:
        type === offeredType(actuator?.actuator_value_type)
          ? (actuator?.actuator_value_type ?? type)
          : type,
    };
    const path = `${apiPaths.device(device.id)}/actuators`;
    if (!(await action.run(() => api.send({ method: 'POST', path, json })))) return;
    showToast(t('device.saved'));
    reload();
    route(screenPaths.device(device.id), true);
  }

  return (
    <form class="form" onSubmit={save} noValidate>
      <TextField
        label={t('device.name')}
        value={name}
        onValue={(text) => {
          setName(text);
          if (actuator === undefined && !hasOwnId) setId(idFromName(text));
        }}
      />
      {actuator === undefined && (
        <TextField
          label={t('device.actuatorId')}
          autocapitalize="none"
          spellcheck={false}
          value={id}
          onValue={(text) => {
            setOwnId(text !== '');
            setId(text);
          }}
        />
      )}
      <TextField label={t('device.actuatorKind')} value={kind} onValue={setKind} isOptional />
      <SelectField
        label={t('device.valueType')}
        value={type}
        options={[
          { value: 'bool', label: t('device.typeBool') },
          { value: 'number', label: t('device.typeNumber') },
          { value: 'string', label: t('device.typeString') },
          { value: 'object', label: t('device.typeOther') },
        ]}
        onValue={setType}
      />
      <FormError text={action.error} />
      <button type="submit" class="button button-main" disabled={action.isBusy}>
        {actuator === undefined ? t('device.addActuator') : t('common.save')}
      </button>
    </form>
  );
}

function DeleteActuator({
  known,
  actuator,
}: {
  readonly known: KnownDevice;
  readonly actuator: Actuator;
}): JSX.Element {
  const { device } = known;
  const { route } = useLocation();
  const action = useAction();
  const [isAsking, setAsking] = useState(false);
  const name = sensorName(actuator);
  async function remove(): Promise<void> {
    const path = apiPaths.actuator(device.id, actuator.id);
    const isDone = await action.run(() => api.send({ method: 'DELETE', path }));
    setAsking(false);
    if (!isDone) return;
    showToast(t('device.deleted', { name }));
    route(screenPaths.device(device.id), true);
  }
  return (
    <div class="stack-tight">
      <button type="button" class="button button-danger tiles-add" onClick={() => setAsking(true)}>
        <Icon name="trash" />
        {t('device.deleteActuator')}
      </button>
      <FormError text={action.error} />
      {isAsking && (
        <ConfirmDialog
          title={t('device.deleteActuator')}
          text={t('device.deleteActuatorText', { name })}
          action={t('common.delete')}
          isBusy={action.isBusy}
          onConfirm={remove}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  );
}
