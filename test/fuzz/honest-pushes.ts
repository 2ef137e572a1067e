// A thread of its own, so that what the strangers cost this process is not taken for waiting.
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const { url, token, pauseMs } = workerData as { url: string; token: string; pauseMs: number };
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const waitedMs: number[] = [];
const refused: string[] = [];
let isOver = false;

parentPort?.on('message', () => {
  isOver = true;
});

function push(value: number): Promise<void> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const path = '/api/v2/devices/honest/sensors/level/value';
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sent = request(url + path, { method: 'POST', agent, headers }, (answer) => {
      answer.resume();
      answer.on('end', () => {
        waitedMs.push(performance.now() - startedAt);
        if (answer.statusCode !== 204) refused.push(`status ${answer.statusCode}`);
        resolve();
      });
    });
    sent.on('error', (error) => {
      refused.push(error.message);
      resolve();
    });
    sent.end(JSON.stringify({ value }));
  });
}

for (let value = 0; !isOver; value += 1) {
  await push(value);
  await new Promise((resolve) => setTimeout(resolve, pauseMs));
}
agent.destroy();
parentPort?.postMessage({ waitedMs, refused });
