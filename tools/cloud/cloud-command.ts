import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Command, Option } from 'commander';
import { printable } from '../../src/cli/printable.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createApiClient } from '../client/api-client.ts';
import {
  addUrlOption,
  allowHttpOption,
  logInAs,
  readUrl,
  type SecretKeys,
  tokenOption,
} from '../client/login-options.ts';
import { openProgressBar } from '../copy-progress.ts';
import { wholeNumber } from '../option-values.ts';
import { addPasswordOptions } from '../password-options.ts';
import { abortAtStopSignal } from '../stop-signal.ts';
import { importCloud, whoIs } from './cloud-import.ts';
import { cloudLimits, remoteLimits } from './cloud-limits.ts';
import { openProgressFile } from './progress-file.ts';
import { type CloudReport, createTally, kinds } from './tally.ts';

interface CloudOptions {
  readonly from: string;
  readonly username?: string;
  readonly passwordFile?: string;
  readonly password?: string;
  readonly token?: string;
  readonly to: string;
  readonly toUsername?: string;
  readonly toPasswordFile?: string;
  readonly toPassword?: string;
  readonly toToken?: string;
  readonly all?: boolean;
  readonly only?: readonly string[];
  readonly values: boolean;
  readonly notifications: boolean;
  readonly parallel: number;
  readonly state?: string;
  readonly allowHttp?: boolean;
}

const targetKeys: SecretKeys = { password: 'KIPIMO_TO_PASSWORD', token: 'KIPIMO_TO_TOKEN' };

/** `kipimo import cloud`: from another service of this API into a running Kipimo. */
export function createCloudCommand(): Command {
  const { sensorsInParallel, sensorsInParallelMax } = cloudLimits;
  const command = new Command('cloud')
    .description(
      'Copy devices, sensors, actuators, gateways, projects, notifications and values from ' +
        'another service that speaks API v2. Interrupted and run again, it goes on; nothing is ' +
        'stored twice. Exit code 1 when anything could not be copied.',
    )
    .requiredOption('--from <url>', 'the service to copy from', readUrl)
    .option('--user, --username <name>', 'log in there as this user; otherwise as a guest');
  addPasswordOptions(command).addOption(tokenOption());
  addUrlOption(command, 'to', 'the Kipimo to copy into').option(
    '--to-user, --to-username <name>',
    'log in there as this user; otherwise as a guest',
  );
  addPasswordOptions(command, { prefix: 'to-', key: targetKeys.password }).addOption(
    tokenOption('to-', targetKeys.token),
  );
  return command
    .option(...allowHttpOption)
    .option('--all', 'what others own, too, as far as you may see it')
    .option('--only <prefix...>', 'only devices and gateways whose ids begin like this')
    .option('--no-values', 'leave the values out')
    .option('--no-notifications', 'leave the notifications out')
    .addOption(
      new Option('--parallel <n>', 'sensors to copy at the same time')
        .argParser(wholeNumber(1, sensorsInParallelMax))
        .default(sensorsInParallel),
    )
    .option('--state <file>', 'remembers how far an interrupted copy is (default: made up)')
    .action(runCloud);
}

async function runCloud(options: CloudOptions): Promise<void> {
  const signal = abortAtStopSignal();
  const wait = (delayMs: number) => delay(delayMs, undefined, { signal });
  const remoteAt = (url: string) =>
    createApiClient({ url, signal, wait, isImporting: true, limits: remoteLimits });
  const [source, target] = [remoteAt(options.from), remoteAt(options.to)];
  await logInAs(source, options);
  const account = {
    username: options.toUsername,
    passwordFile: options.toPasswordFile,
    password: options.toPassword,
    token: options.toToken,
    allowHttp: options.allowHttp,
  };
  await logInAs(target, account, targetKeys);
  const sourceUsername = (await whoIs(source)).username ?? options.username;

  const about = [source.url, sourceUsername ?? '', target.url, options.toUsername ?? ''].join(' ');
  const digest = createHash('sha256').update(about).digest('hex').slice(0, 8);
  const file = resolve(options.state ?? `kipimo-import-${digest}.json`);
  const bar = openProgressBar('sensors');
  const copying = importCloud({
    ...{ source, target, sourceUsername, isAll: options.all === true },
    prefixes: options.only ?? [],
    hasValues: options.values,
    hasNotifications: options.notifications,
    sensorsInParallel: options.parallel,
    progress: await openProgressFile({ file, about, clock: systemClock }),
    tally: createTally(createSkipPrinter()),
    onProgress: bar.show,
  });
  const report = await copying
    .catch((reason: unknown) => {
      const said = signal.aborted || !(reason instanceof Error) ? 'stopped' : reason.message;
      throw new Error(`${said}; run the same command again, and it goes on`, { cause: reason });
    })
    .finally(bar.stop);
  process.stdout.write(reportText(report));
  if (kinds.some((kind) => report.counts[kind].skipped > 0)) process.exitCode = 1;
}

function createSkipPrinter(): (sentence: string) => void {
  let shown = 0;
  return (sentence) => {
    shown += 1;
    if (shown <= cloudLimits.skipsShown) process.stderr.write(`kipimo: ${printable(sentence)}\n`);
  };
}

/** The report for people: a table, and sentences on what is not in it. */
function reportText({ counts, leftOut, adopted }: CloudReport): string {
  const cell = (content: string | number) => String(content).padStart(14);
  const rows = kinds.map((kind) => {
    const { copied, already, skipped } = counts[kind];
    return `${kind.padEnd(14)}${cell(copied)}${cell(already)}${cell(skipped)}\n`;
  });
  const head = `${' '.repeat(14)}${cell('copied')}${cell('there already')}${cell('skipped')}\n`;
  const notes = [
    leftOut > 0 ? `${leftOut} things of others were left out; --all copies them, too.\n` : '',
    adopted > 0
      ? `${adopted} things of others are yours now: only an admin can keep owners, and only ` +
        'those who have an account here.\n'
      : '',
  ];
  return [head, ...rows, ...notes].join('');
}
