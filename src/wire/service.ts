import Type from 'typebox';
import type { ServiceReport } from '../domain/service-state.ts';

const Moment = Type.String({ format: 'date-time' });

export const ServiceMessage = Type.Object(
  {
    version: Type.String(),
    started_at: Moment,
    signup: Type.Union([Type.Literal('open'), Type.Literal('closed')], {
      description: 'KIPIMO_SIGNUP: whether strangers may make accounts.',
    }),
    restart_needed: Type.Array(Type.String(), {
      description: 'Settings of .env that were changed since the start; they hold after a restart.',
    }),
    last_backup_at: Type.Optional(Moment),
    failed_messages: Type.Array(
      Type.Object({ channel: Type.String(), count: Type.Integer({ minimum: 1 }) }),
      { description: 'Messages that were given up since the start.' },
    ),
  },
  { title: 'Service' },
);

export const serviceToWire = (report: ServiceReport) => ({
  version: report.version,
  started_at: new Date(report.startedAt).toISOString(),
  signup: report.signup,
  restart_needed: [...report.restartNeeded],
  ...(report.lastBackupAt !== undefined && {
    last_backup_at: new Date(report.lastBackupAt).toISOString(),
  }),
  failed_messages: [...report.failedMessages].map(([channel, count]) => ({ channel, count })),
});
