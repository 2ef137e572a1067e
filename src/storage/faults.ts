import type { Reporter } from '../domain/reporter.ts';
import type { Log } from '../lib/log.ts';

/**
 * Rows that cannot be understood: they stay where they are until they are mended, the service
 * goes on as if they were not there, and says so once for each.
 */
export type DamagedRows = ReturnType<typeof createDamagedRows>;
/** Rows whose damage is remembered as reported; beyond it each read of further ones is reported. */
const rowsToldMax = 100_000;

export function createDamagedRows(options: {
  readonly log: Log;
  readonly reporter: Pick<Reporter, 'rowSetAside'>;
}) {
  const { log, reporter } = options;
  const told = new Set<string>();

  /** Reports a row that was found damaged, unless it was reported before. */
  function note(table: string, key: string | number, reason: unknown): void {
    const name = `${table} ${key}`;
    if (told.has(name)) return;
    if (told.size < rowsToldMax) told.add(name);
    reporter.rowSetAside(table);
    // The key alone: what a damaged row holds may be a secret.
    const why = reason instanceof Error ? reason.message : String(reason);
    // Not as `key`, which the log takes for a secret.
    log.error({ table, row: key, reason: why }, 'a row cannot be understood and is set aside');
  }

  return {
    /** Answers what `read` answers; undefined where it throws. `key` finds the row in its table. */
    read<Value>(table: string, key: string | number, read: () => Value): Value | undefined {
      try {
        return read();
      } catch (reason) {
        note(table, key, reason);
        return undefined;
      }
    },
    note,
  };
}

/** Logs when changes begin to be refused, by thousands a second, and when they are taken again. */
export function createWriteHealth(log: Log, place: string) {
  let isFailing = false;
  /** Notes the outcome of a change; `refusal`: why it was refused. */
  return (refusal?: Readonly<Record<string, unknown>>): void => {
    if ((refusal !== undefined) === isFailing) return;
    isFailing = refusal !== undefined;
    if (refusal !== undefined) log.error(refusal, `${place} refuses changes`);
    else log.warn({}, `${place} takes changes again`);
  };
}
