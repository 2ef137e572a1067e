import { type Plant, patch } from './plant.ts';

const summaries = {
  file: 'src/storage/sqlite/timeseries/datapoint-summary.test.ts',
  test: 'summaries answer what a look',
};
const renewal = {
  file: 'src/storage/sqlite/timeseries/chunk-renewal.test.ts',
  test: 'whatever is flushed between its steps',
};
const histories = {
  file: 'src/storage/sqlite/history-model.test.ts',
  test: 'whatever happens to a history on the disk',
};
const page = 'src/storage/chunks/datapoint-summary.ts';
const rewriting = 'src/storage/sqlite/timeseries/chunk-renewal.ts';
const retention = 'src/storage/chunks/retention-step.ts';
const corrections = 'src/domain/datapoints/corrections/correction-book.ts';
const differs = /deepEqual|deepStrictEqual|deep-equal|strictly equal|!==|Property failed/;

const memtable = {
  file: 'src/storage/sqlite/timeseries/memtable.test.ts',
  path: 'src/storage/sqlite/timeseries/memtable.ts',
};

/** Wrong answers about histories: the models that compare them with plain lists have to notice. */
export const plantsOfHistories: readonly Plant[] = [
  {
    name: 'what is frozen is told to the flusher though the next fails',
    ...{ file: memtable.file, test: 'without memory to freeze', says: /allocation failed/ },
    patches: [patch(memtable.path, 'if (frozen.length === 0) throw error;', 'throw error;')],
  },
  {
    name: 'what is packed of a series keeps its place when it is made',
    ...{ file: memtable.file, test: 'what is packed keeps its log rows', says: differs },
    patches: [
      patch(
        memtable.path,
        'if (series.memtableEntry.count > 0) all',
        'if (series.memtableEntry.count > 0 && all.delete(series.number)) all',
      ),
    ],
  },
  {
    name: 'a summary does not stand where a datapoint came late',
    ...{ ...summaries, says: differs },
    patches: [patch(page, '      later.nextTime() > end &&\n', '')],
  },
  {
    name: 'a summary does not stand where a part is left out',
    ...{ ...histories, says: differs },
    patches: [patch(page, '      !isExcluded(start, end) &&\n', '')],
  },
  {
    name: 'a falling calibration swaps what is least and what is greatest',
    ...{ ...summaries, says: differs },
    patches: [
      patch(
        'src/domain/datapoints/standing.ts',
        'const isFalling = line.slope < 0;',
        'const isFalling = line.slope < -100;',
      ),
    ],
  },
  {
    name: 'chunks that changed meanwhile are not written anew',
    ...{ ...renewal, says: differs },
    patches: [patch(rewriting, '      if (!isUnchanged(chunks)) return false;\n', '')],
  },
  {
    name: 'chunks that are written anew keep their order',
    ...{ ...renewal, says: differs },
    patches: [patch(rewriting, 'if (changesPlaces(chunks, cut)) replace', 'if (false) replace')],
  },
  {
    name: 'sums know of corrections',
    ...{ ...histories, says: differs },
    patches: [patch(corrections, 'const exclude = overlay.parts();', 'const exclude = [];')],
  },
  {
    name: 'a correction does not reach what is pushed after it',
    ...{ ...histories, says: differs },
    patches: [patch(corrections, 'book.outsideReach(batch)', 'batch')],
  },
  {
    name: 'hours stay as corrections showed them',
    ...{ ...histories, says: differs },
    patches: [patch(retention, 'addToHours(shown?.(pushed) ?? pushed,', 'addToHours(pushed,')],
  },
  {
    name: 'an hour that retention took in two steps is one',
    ...{ ...histories, says: differs },
    patches: [
      patch(
        retention,
        'const open = yield* answerOf(store.openHour());',
        'const open = undefined;',
      ),
    ],
  },
  {
    name: 'hours are kept in the same commit that takes their datapoints',
    ...{ ...histories, says: differs },
    patches: [patch(retention, '  yield* answerOf(store.writeDays(written.days));\n', '')],
  },
];
