import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metaWith, tagsIn } from './changed-notes.ts';
import { notesOf, photoCharactersMax } from './device-notes.ts';
import type { Device } from './types.ts';
import { withWords } from './word-search.ts';

function aDevice(parts: Partial<Device>): Device {
  const dates = { date_created: '', date_modified: '' };
  return { id: 'd', owner: 'ama', sensors: [], actuators: [], ...dates, ...parts };
}

const maize = aDevice({ id: 'f-3', name: 'Maïs du nord', sensors: [{ id: 'SM', name: 'Sol' }] });
const pond = aDevice({ id: 'pond', gateway_id: 'roof', meta: { tags: ['North'] } });

test('words are found in any order, in any case, with or without accents', () => {
  const found = (text: string) => withWords([maize, pond], text).map(({ id }) => id);
  assert.deepEqual(found('nord mais'), ['f-3']);
  assert.deepEqual(found(' SOL f-3 '), ['f-3']);
  assert.deepEqual(found('north roof'), ['pond']);
  assert.deepEqual(found('nord pond'), []);
  assert.deepEqual(found('  '), ['f-3', 'pond']);
});

test('notes are read from what is there, and nothing else of it is lost', () => {
  const photo = 'data:image/jpeg;base64,AAAA';
  const device = { meta: { note: 'behind the shed', tags: ['a', 7], icon: '🌽', photo, mine: 1 } };
  const notes = { note: 'behind the shed', tags: ['a'], icon: '🌽', photo };
  assert.deepEqual(notesOf(device), notes);
  assert.deepEqual(metaWith(device, { ...notes, note: ' ', tags: [] }), {
    ...{ mine: 1, icon: '🌽', photo },
  });
  const empty = { note: '', tags: [], icon: '', photo: '' };
  const odd = [undefined, null, 7, 'text', [1], { note: 7, tags: 'x', icon: {}, photo: 'x' }];
  for (const meta of odd) assert.deepEqual(notesOf({ meta }), empty);
});

test('only small pictures that are in the page itself are shown', () => {
  for (const photo of [
    'https://elsewhere.example/x.png',
    'data:text/html;base64,AAAA',
    'data:image/svg+xml;base64,AAAA',
    `data:image/png;base64,${'A'.repeat(photoCharactersMax)}`,
  ]) {
    assert.equal(notesOf({ meta: { photo } }).photo, '', photo.slice(0, 40));
  }
});

test('tags are typed with commas, each once', () => {
  assert.deepEqual(tagsIn(' wet, dry;wet ,, '), ['wet', 'dry']);
});
