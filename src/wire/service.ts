import Type, { type TSchemaOptions } from 'typebox';
import type {
  EffectiveSettings,
  SettingsChange,
} from '../domain/administration/installation-settings.ts';
import type { ServiceReport } from '../domain/administration/service-state.ts';
import type { BudgetReport } from '../domain/budgets/budgets.ts';
import type { StorageReport } from '../domain/budgets/storage-quotas.ts';
import { defined } from '../lib/record.ts';
import { Message, Plain } from './fields.ts';
import { createReader } from './validation.ts';

const Moment = Type.String({ format: 'date-time' });
const Bytes = Type.Integer({ minimum: 0 });

const SignUp = (about: TSchemaOptions = {}) =>
  Type.Union([Type.Literal('open'), Type.Literal('closed')], about);

export const ServiceMessage = Message('Service', {
  version: Type.String(),
  started_at: Moment,
  signup: SignUp({ description: 'Whether strangers may make accounts: see /admin/settings.' }),
  storage: Type.Object(
    {
      used: Bytes,
      guests: Bytes,
      guests_max: Bytes,
      account_max: Type.Optional(Bytes),
      sign_ups: Bytes,
      sign_up_max: Type.Optional(Bytes),
      sign_ups_max: Type.Optional(Bytes),
      strangers: Bytes,
      disk_free: Type.Optional(Bytes),
      disk_floor: Bytes,
      refusals: Bytes,
      largest: Type.Array(Type.Object({ username: Type.String(), used: Bytes })),
    },
    { description: 'Bytes, counted as quotas count them; who has most, the largest first.' },
  ),
  restart_needed: Type.Array(Type.String(), {
    description: 'Settings of .env that were changed since the start; they hold after a restart.',
  }),
  last_backup_at: Type.Optional(Moment),
  failed_messages: Type.Array(
    Type.Object({ channel: Type.String(), count: Type.Integer({ minimum: 1 }) }),
    { description: 'Messages that were given up since the start.' },
  ),
});

function storageToWire(report: StorageReport) {
  const { guestsMax, accountMax, signUpMax, signUpsMax, diskFree, diskFloor, ...rest } = report;
  return defined({
    ...{ used: rest.used, guests: rest.guests, guests_max: guestsMax },
    account_max: accountMax,
    ...{ sign_ups: rest.signUps, strangers: rest.strangers },
    sign_up_max: signUpMax,
    sign_ups_max: signUpsMax,
    disk_free: diskFree,
    ...{ disk_floor: diskFloor, refusals: rest.refusals },
    largest: rest.largest.map(({ username, used }) => ({ username, used })),
  });
}

export const serviceToWire = (report: ServiceReport) => ({
  version: report.version,
  started_at: new Date(report.startedAt).toISOString(),
  signup: report.settings.signUp,
  storage: storageToWire(report.storage),
  restart_needed: [...report.restartNeeded],
  ...(report.lastBackupAt !== undefined && {
    last_backup_at: new Date(report.lastBackupAt).toISOString(),
  }),
  failed_messages: [...report.failedMessages].map(([channel, count]) => ({ channel, count })),
});

export const SettingsMessage = Message('Settings', {
  sign_up: SignUp(),
  sign_up_from: Type.Union([Type.Literal('configuration'), Type.Literal('administrator')], {
    description: 'Who says so: KIPIMO_SIGNUP, or an administrator.',
  }),
  sign_up_default: SignUp(),
});

export const settingsToWire = (settings: EffectiveSettings) => ({
  sign_up: settings.signUp,
  sign_up_from: settings.signUpFrom,
  sign_up_default: settings.signUpDefault,
});

const SettingsChangeMessage = Message('SettingsChange', {
  sign_up: Type.Optional(
    Type.Union([SignUp(), Type.Null()], { description: 'null: as KIPIMO_SIGNUP says.' }),
  ),
});

/** Throws invalid for what is no change of settings. */
export const readSettingsChange = createReader(
  SettingsChangeMessage,
  'settings',
  ({ sign_up: signUp }): SettingsChange => defined({ signUp }),
);

export const BudgetMessage = Message('Budget', {
  name: Plain('As in docs/limits.md and in KIPIMO_BUDGETS.'),
  unit: Plain('bytes or entries.'),
  used: Type.Number(),
  total: Type.Number(),
  guests: Type.Number({ description: 'What all guests use together.' }),
  refusals: Type.Number({ description: 'How often there was no room, since the start.' }),
  largest: Type.Array(
    Type.Object({
      username: Type.Optional(Type.String()),
      who: Plain('The id of an account, or the address of guests.'),
      used: Type.Number(),
    }),
    { description: 'Who uses the most, the largest first.' },
  ),
});

export const budgetToWire = ({ largest, ...figures }: BudgetReport) => ({
  ...figures,
  largest: largest.map(({ username, who, used }) => defined({ username, who, used })),
});
