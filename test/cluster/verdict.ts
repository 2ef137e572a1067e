import assert from 'node:assert/strict';
import { checkHistory } from './checker.ts';
import type { History } from './history.ts';

const complaintsShown = 20;

/** Throws the first complaints about a history, and where too little happened to say anything. */
export function requireRight(history: History, seed: number): void {
  const complaints = checkHistory(history);
  const shown = complaints.slice(0, complaintsShown).join('\n');
  assert.equal(complaints.length, 0, `NEMESIS_SEED=${seed}: ${complaints.length}\n${shown}`);
  const acknowledged = history.sent.filter(({ outcome }) => outcome === 'acknowledged');
  assert.ok(acknowledged.length > 100, `only ${acknowledged.length} values were acknowledged`);
}
