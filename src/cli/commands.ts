import type { Command } from 'commander';

/** A command of the command line; its file is read only when the command is asked for. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

/** The command that runs when none is named. */
export const defaultCommand = 'serve';

/** Every command, in the order the help shows them. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'serve',
    summary: 'start the service (the default)',
    load: async () => (await import('./serve.ts')).createServeCommand(),
  },
  {
    name: 'user',
    summary: 'add, import, list and delete accounts, set passwords',
    load: async () => (await import('./user.ts')).createUserCommand(),
  },
  {
    name: 'key',
    summary: 'list, add and remove the access keys of an account',
    load: async () => (await import('./key.ts')).createKeyCommand(),
  },
  {
    name: 'device',
    summary: 'list the devices of a running service',
    load: async () => (await import('./device.ts')).createDeviceCommand(),
  },
  {
    name: 'stats',
    summary: 'show how much a running service has',
    load: async () => (await import('./stats.ts')).createStatsCommand(),
  },
  {
    name: 'usage',
    summary: 'show who uses what of every budget of a service',
    load: async () => (await import('./usage.ts')).createUsageCommand(),
  },
  {
    name: 'backup',
    summary: 'copy all data into one file, while the service runs',
    load: async () => (await import('./backup.ts')).createBackupCommand(),
  },
  {
    name: 'restore',
    summary: 'put a backup into an empty data directory',
    load: async () => (await import('./restore.ts')).createRestoreCommand(),
  },
  {
    name: 'doctor',
    summary: 'check what is stored, measure the disk, and say what to do',
    load: async () => (await import('./doctor.ts')).createDoctorCommand(),
  },
  {
    name: 'retention',
    summary: 'say which old datapoints would be deleted, and delete nothing',
    load: async () => (await import('./retention.ts')).createRetentionCommand(),
  },
  {
    name: 'compact',
    summary: 'write the database anew, as small as it can be, while the service is stopped',
    load: async () => (await import('./compact.ts')).createCompactCommand(),
  },
  {
    name: 'move',
    summary: 'move everything to PostgreSQL, or back to a data directory',
    load: async () => (await import('./move.ts')).createMoveCommand(),
  },
  {
    name: 'export',
    summary: 'write all accounts, or one, with everything they have into one file',
    load: async () => (await import('./export.ts')).createExportCommand(),
  },
  {
    name: 'import',
    summary: 'take in an export, a CSV, or all that another cloud shows',
    load: async () => {
      const { createCloudCommand } = await import('../../tools/cloud/cloud-command.ts');
      return (await import('./import.ts')).createImportCommand(createCloudCommand());
    },
  },
  {
    name: 'demo',
    summary: 'simulate devices that push to a running service',
    load: async () => (await import('../../tools/demo/demo-command.ts')).createDemoCommand(),
  },
  {
    name: 'bench',
    summary: 'measure this machine against a server that does nothing',
    load: async () => (await import('../../tools/bench/bench-command.ts')).createBenchCommand(),
  },
  {
    name: 'completion',
    summary: 'print what makes bash, zsh or fish complete these commands',
    load: async () =>
      (await import('./completion.ts')).createCompletionCommand(() =>
        Promise.all(commands.map(({ load }) => load())),
      ),
  },
];
