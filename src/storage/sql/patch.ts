import { type JsonValue, parseJson } from '../../lib/json.ts';

/** Changes to an object kept as JSON text: what to set, as JSON text, and which keys to drop. */
export interface Patch {
  readonly set: string;
  readonly unset: readonly string[];
}

/** Changes to a device or gateway; an absent owner or visibility stays. */
export interface ResourcePatch {
  readonly owner?: string;
  readonly visibility?: string | null;
  readonly details: Patch;
}

/** The same as it crosses to the writer thread; a visibility that is undefined is removed. */
export function resourcePatchOf(changes: {
  readonly owner?: string;
  readonly visibility?: string | undefined;
}): ResourcePatch {
  const { owner, visibility, ...details } = changes;
  return {
    ...(owner !== undefined && { owner }),
    ...('visibility' in changes && { visibility: visibility ?? null }),
    details: patchOf(details),
  };
}

/** The patch for changes in which undefined means "remove this". */
export function patchOf(changes: object): Patch {
  const unset = Object.entries(changes)
    .filter(([, value]) => value === undefined)
    .map(([key]) => key);
  return { set: JSON.stringify(changes), unset };
}

/** The JSON text after the patch. Numbers keep all their digits. */
export function applyPatch(text: string, patch: Patch): string {
  const merged = new Map<string, JsonValue>([...entriesOf(text), ...entriesOf(patch.set)]);
  for (const key of patch.unset) merged.delete(key);
  return JSON.stringify(Object.fromEntries(merged));
}

/** The JSON text of an object, with these fields of the older text unless it has the first one. */
export function withKept(text: string, older: string, fields: readonly string[]): string {
  const [first] = fields;
  if (entriesOf(text).some(([key]) => key === first)) return text;
  const kept = entriesOf(older).filter(([key]) => fields.includes(key));
  return JSON.stringify(Object.fromEntries([...kept, ...entriesOf(text)]));
}

function entriesOf(text: string): [string, JsonValue][] {
  // Only texts of objects are patched: details and profiles.
  return Object.entries(parseJson(text) as { readonly [key: string]: JsonValue });
}
