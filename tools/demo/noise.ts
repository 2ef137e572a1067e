/** Chance that can be repeated: the same key and index give the same number, in any order. */
export type NoiseKey = number;

/** The key of one stream of chance, made from the seed and a name. */
export function noiseKey(seed: number, name: string): NoiseKey {
  let key = Math.imul(seed ^ 0x5bd1e995, 0x27d4eb2d);
  for (let at = 0; at < name.length; at += 1) {
    key = Math.imul(key ^ name.charCodeAt(at), 0x01000193);
  }
  return key >>> 0;
}

/** Evenly spread, from 0 up to but not including 1. */
export function chance(key: NoiseKey, index: number): number {
  let bits = (key + Math.imul(index | 0, 0x9e3779b1)) | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 0x1_0000_0000;
}

/** Like the error of a good sensor: between -1 and 1, mostly near 0, new every second. */
export function jitter(key: NoiseKey, instant: number): number {
  const second = Math.floor(instant / 1_000);
  return chance(key, second) + chance(key ^ 0x2545f491, second) - 1;
}

/** A slow wave between -1 and 1 that turns about every `periodMs`, without jumps. */
export function drift(key: NoiseKey, instant: number, periodMs: number): number {
  const at = instant / periodMs;
  const index = Math.floor(at);
  const part = at - index;
  const eased = part * part * (3 - 2 * part);
  const from = chance(key, index);
  const to = chance(key, index + 1);
  return 2 * (from + (to - from) * eased) - 1;
}

/** `value` in steps of `resolution`, as a sensor reports it. */
export function inSteps(value: number, resolution: number): number {
  return Number((Math.round(value / resolution) * resolution).toFixed(6));
}

/** `value`, moved to the nearer end when it is outside of the range. */
export function within(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}
