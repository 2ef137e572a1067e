import { setTimeout as delay } from 'node:timers/promises';
import { Command, Option } from 'commander';
import { printableLines } from '../../src/cli/printable.ts';
import { systemClock } from '../../src/lib/clock.ts';
import {
  addServiceOptions,
  passwordOf,
  requireEncryption,
  type ServiceOptions,
  tokenOf,
} from '../client/login-options.ts';
import { parseDuration, parseWait, wholeNumber } from '../option-values.ts';
import { givenPassword } from '../password-options.ts';
import { abortAtStopSignal } from '../stop-signal.ts';
import { demoLimits } from './demo-limits.ts';
import type { Account } from './identity.ts';
import { type SimulationOptions, simulate } from './simulation.ts';

interface DemoOptions extends ServiceOptions {
  readonly guest?: boolean;
  readonly devices: number;
  readonly prefix: string;
  readonly seed: number;
  readonly history?: number;
  readonly step: number;
  readonly every: number;
  readonly for?: number;
  readonly once?: boolean;
}

/** `kipimo demo`: devices all over Africa that push believable values to a running service. */
export function createDemoCommand(): Command {
  const command = new Command('demo').description(
    'Simulate devices in towns of Africa that push believable values to a running service, ' +
      'until Ctrl-C. Without an account it makes the user demo, whose generated password it ' +
      'prints. With any account it makes a second one, NAME-friend, and shares a private device ' +
      'with it (--guest: neither). Run again it goes on where it was: nothing is stored twice.',
  );
  return addServiceOptions(command, 'log in as this user, instead of a user demo of its own')
    .addOption(
      new Option(
        '--guest',
        'without an account: all devices are public, nothing is shared',
      ).conflicts(['username', 'password', 'passwordFile', 'token']),
    )
    .addOption(
      option('--devices <n>', 'how many devices', wholeNumber(1, demoLimits.devicesMax), 8),
    )
    .option('--prefix <text>', 'start of every device id', 'demo')
    .addOption(option('--seed <n>', 'another seed, other weather', wholeNumber(0, 2 ** 31), 1))
    .option('--history <time>', 'fill the past first, for instance 30d', parseDuration)
    .addOption(duration('--step <time>', 'time between two values of the past', '10m'))
    .addOption(duration('--every <time>', 'time between live values', '10s', parseWait))
    .option('--for <time>', 'stop after this time', parseWait)
    .addOption(new Option('--once', 'push one round of live values and stop').conflicts('for'))
    .action(demo);
}

function option<Value>(
  flags: string,
  description: string,
  parse: (text: string) => Value,
  initial: Value,
): Option {
  return new Option(flags, description).argParser(parse).default(initial);
}

function duration(
  flags: string,
  description: string,
  initial: string,
  parse = parseDuration,
): Option {
  return new Option(flags, description).argParser(parse).default(parse(initial), initial);
}

async function demo(options: DemoOptions): Promise<void> {
  const simulation = simulationOf(options, await accountOf(options));
  const ends = [abortAtStopSignal()];
  if (options.for !== undefined) ends.push(AbortSignal.timeout(options.for));
  const signal = AbortSignal.any(ends);
  try {
    await simulate(simulation, {
      clock: systemClock,
      print: (line) => process.stdout.write(`${printableLines(line)}\n`),
      isTerminal: process.stderr.isTTY === true,
      wait: (delayMs) => delay(delayMs, undefined, { signal }),
      signal,
    });
  } catch (error) {
    // Stopped as asked: Ctrl-C and --for are how a run ends.
    if (!signal.aborted) throw error;
  }
}

function simulationOf(options: DemoOptions, account: Account): SimulationOptions {
  const { url, devices, prefix, seed, history, step } = options;
  if (history !== undefined && history / step > demoLimits.historyStepsMax) {
    throw new Error(
      `--history must be at most ${demoLimits.historyStepsMax} steps: choose a longer --step`,
    );
  }
  return {
    url,
    account,
    devices,
    prefix,
    seed,
    ...(history !== undefined && { history: { lengthMs: history, stepMs: step } }),
    ...(options.once !== true && { everyMs: options.every }),
  };
}

async function accountOf(options: DemoOptions): Promise<Account> {
  const { url, username, guest } = options;
  if (guest === true) return { kind: 'guest' };
  const token = tokenOf(options);
  requireEncryption(url, options.allowHttp);
  if (token !== undefined) return { kind: 'token', token };
  if (username === undefined) {
    const password = await givenPassword(options);
    return { kind: 'demo', ...(password !== undefined && { password }) };
  }
  return { kind: 'user', username, password: await passwordOf(username, options) };
}
