import type { Command } from 'commander';

/** A command of the command line; its file is read only when the command is asked for. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

const entry = (name: string, summary: string, load: CommandEntry['load']): CommandEntry => ({
  name,
  summary,
  load,
});

/** The command that runs when none is named. */
export const defaultCommand = 'serve';

/** Every command, in the order the help shows them. */
export const commands: readonly CommandEntry[] = [
  entry('serve', 'start the service (the default)', async () =>
    (await import('./serve.ts')).createServeCommand(),
  ),
  entry('user', 'add, import, list and delete accounts, set passwords', async () =>
    (await import('../../tools/admin/user.ts')).createUserCommand(),
  ),
  entry('key', 'list, add and remove the access keys of an account', async () =>
    (await import('../../tools/admin/key.ts')).createKeyCommand(),
  ),
  entry('device', 'list the devices of a running service', async () =>
    (await import('../../tools/service/device-command.ts')).createDeviceCommand(),
  ),
  entry('stats', 'show how much a running service has', async () =>
    (await import('../../tools/service/stats-command.ts')).createStatsCommand(),
  ),
  entry('usage', 'show who uses what of every budget of a service', async () =>
    (await import('../../tools/service/usage-command.ts')).createUsageCommand(),
  ),
  entry('backup', 'copy all data into one file, while the service runs', async () =>
    (await import('../../tools/admin/backup.ts')).createBackupCommand(),
  ),
  entry('restore', 'put a backup into an empty data directory', async () =>
    (await import('../../tools/admin/backup.ts')).createRestoreCommand(),
  ),
  entry('doctor', 'check what is stored, measure the disk, and say what to do', async () =>
    (await import('../../tools/admin/doctor.ts')).createDoctorCommand(),
  ),
  entry('retention', 'say which old datapoints would be deleted, and delete nothing', async () =>
    (await import('../../tools/admin/retention.ts')).createRetentionCommand(),
  ),
  entry(
    'compact',
    'write the database anew, as small as it can be, while the service is stopped',
    async () => (await import('../../tools/admin/compact.ts')).createCompactCommand(),
  ),
  entry('move', 'move everything to PostgreSQL, or back to a data directory', async () =>
    (await import('../../tools/admin/move.ts')).createMoveCommand(),
  ),
  entry('export', 'write all accounts, or one, with everything they have into one file', async () =>
    (await import('../../tools/admin/export.ts')).createExportCommand(),
  ),
  {
    name: 'import',
    summary: 'take in an export, a CSV, or all that another cloud shows',
    load: async () => {
      const { createImportCommand } = await import('../../tools/import/import-command.ts');
      return createImportCommand(
        (await import('../../tools/admin/export.ts')).createArchiveCommand(),
      );
    },
  },
  entry('demo', 'simulate devices that push to a running service', async () =>
    (await import('../../tools/demo/demo-command.ts')).createDemoCommand(),
  ),
  entry('bench', 'measure this machine against a server that does nothing', async () =>
    (await import('../../tools/bench/bench-command.ts')).createBenchCommand(),
  ),
  {
    name: 'completion',
    summary: 'print what makes bash, zsh or fish complete these commands',
    load: async () =>
      (await import('../../tools/completion.ts')).createCompletionCommand(() =>
        Promise.all(commands.map(({ load }) => load())),
      ),
  },
];
