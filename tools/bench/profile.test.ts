import assert from 'node:assert/strict';
import type { Profiler } from 'node:inspector';
import { test } from 'node:test';
import { topOfProfile } from './profile.ts';

const frame = (functionName: string, url = '', lineNumber = 0) => ({
  ...{ functionName, url, lineNumber, scriptId: '1', columnNumber: 0 },
});

test('functions are told by their own time, without rest, each once', () => {
  const profile: Profiler.Profile = {
    nodes: [
      { id: 1, callFrame: frame('(root)') },
      { id: 2, callFrame: frame('read', 'file:///app/dist/app.js', 11) },
      { id: 3, callFrame: frame('(idle)') },
      { id: 4, callFrame: frame('read', 'file:///app/dist/app.js', 11) },
      { id: 5, callFrame: frame('(garbage collector)') },
      { id: 6, callFrame: frame('post', 'node:inspector', 114) },
    ],
    ...{ startTime: 0, endTime: 1_000 },
    samples: [2, 3, 4, 5, 2, 6],
    timeDeltas: [100, 700, 50, 50, 0, 900],
  };
  assert.deepEqual(topOfProfile(profile, 2), [
    { name: 'read', place: 'app.js:12', part: 0.75 },
    { name: '(garbage collector)', place: '', part: 0.25 },
  ]);
  assert.equal(topOfProfile(profile, 1).length, 1);
});
