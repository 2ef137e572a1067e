import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { createServeCommand } from '../../src/cli/serve.ts';

/** A sample each, so that a second has some thousand. */
const sampleMicroseconds = 200;

/**
 * The service, which profiles its main thread from one SIGUSR2 to the next, and then writes the
 * profile to this file.
 */
export async function runProfiledService(file: string): Promise<void> {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: sampleMicroseconds });
  let isRunning = false;
  process.on('SIGUSR2', () => {
    isRunning = !isRunning;
    if (isRunning) {
      session.post('Profiler.start');
      return;
    }
    session.post('Profiler.stop', (error, answer) => {
      // Under another name until it is whole: somebody waits for it.
      writeFileSync(`${file}.part`, JSON.stringify(error === null ? answer.profile : {}));
      renameSync(`${file}.part`, file);
    });
  });
  await createServeCommand().parseAsync([], { from: 'user' });
}
