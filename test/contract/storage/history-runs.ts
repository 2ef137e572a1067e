import fc from 'fast-check';
import { aDevice, deviceId, noon, sensorId } from './builders.ts';
import { sensor } from './datapoint-builders.ts';
import { type HistoryCounts, type HistoryEngine, noCounts } from './history-engine.ts';
import { createHistoryModel } from './history-model.ts';
import { correctedAtOnce, type HistoryStep, historyStep, wholeHistory } from './history-steps.ts';

/** For longer runs by hand. */
const rounds = Number(process.env['HISTORY_ROUNDS'] ?? 8);

/** Runs histories on an engine, each of a sensor of its own; answers what happened. */
export async function runHistories(engine: HistoryEngine): Promise<HistoryCounts> {
  const counts = noCounts();
  await engine.storage().devices.insert(aDevice('d1', { sensors: [] }));
  let round = 0;
  const steps = fc.array(historyStep, { minLength: 10, maxLength: 30, size: 'max' });
  const property = fc.asyncProperty(steps, async (given) => {
    round += 1;
    const id = `r${round}`;
    await engine.storage().devices.putSensor(deviceId('d1'), { id: sensorId(id) }, noon);
    const model = createHistoryModel(engine, sensor('d1', id), counts);
    for (const one of given) {
      await model.run(one);
      await model.compare();
    }
    await engine.storage().devices.removeSensor(deviceId('d1'), sensorId(id), noon);
  });
  // A history that fails is made shorter for so long, not for ever.
  const interruptAfterTimeLimit = 10_000 * rounds;
  const examples: [HistoryStep[]][] = [[[...wholeHistory]], [[...correctedAtOnce]]];
  await fc.assert(property, { numRuns: rounds + 1, examples, interruptAfterTimeLimit });
  return counts;
}
