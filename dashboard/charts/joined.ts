import { type Columns, gapAfterMs, gapMsOf } from './columns.ts';

/** A cell of the plot: null breaks the line, undefined lets it pass. */
export type Cell = number | null | undefined;

/** The lines of all sensors over one row of times, in seconds as the plot wants them. */
export interface JoinedLines {
  readonly seconds: number[];
  /** One for each sensor, in their order. */
  readonly lines: readonly JoinedLine[];
}

export interface JoinedLine {
  readonly values: Cell[];
  readonly lows: Cell[];
  readonly highs: Cell[];
}

/** A line to join; `shiftMs` moves it on the time axis, as for the period before. */
export interface LineSource {
  readonly columns: Columns;
  readonly shiftMs: number;
  /** Bars stand alone: there is no line that would have to break. */
  readonly isBars?: boolean;
}

/** Merges sensors that were measured at different times; gaps of each stay gaps. */
export function joinLines(sources: readonly LineSource[]): JoinedLines {
  const cursors = sources.map(({ columns, shiftMs, isBars = false }) => ({
    columns,
    shiftMs,
    gapMs: isBars ? Number.POSITIVE_INFINITY : gapMsOf(columns),
    next: 0,
    // The instant in a gap at which the line is to break, before its next value.
    breakAt: undefined as number | undefined,
  }));
  const seconds: number[] = [];
  const lines = sources.map((): JoinedLine => ({ values: [], lows: [], highs: [] }));
  for (;;) {
    let at = Number.POSITIVE_INFINITY;
    for (const { columns, shiftMs, next, breakAt } of cursors) {
      const time = columns.times[next];
      if (time !== undefined) at = Math.min(at, breakAt ?? time + shiftMs);
    }
    if (at === Number.POSITIVE_INFINITY) return { seconds, lines };
    seconds.push(at / 1000);
    cursors.forEach((cursor, index) => {
      const line = lines[index];
      if (line !== undefined) takeCell(cursor, at, line);
    });
  }
}

interface Cursor extends LineSource {
  readonly gapMs: number;
  next: number;
  breakAt: number | undefined;
}

function takeCell(cursor: Cursor, at: number, line: JoinedLine): void {
  const { columns, shiftMs, gapMs, next, breakAt } = cursor;
  const time = columns.times[next];
  if (breakAt === at) {
    cursor.breakAt = undefined;
    pushCells(line, null, null, null);
  } else if (breakAt === undefined && time !== undefined && time + shiftMs === at) {
    pushCells(line, columns.values[next], columns.lows[next], columns.highs[next]);
    cursor.next += 1;
    const following = columns.times[next + 1];
    if (following === undefined || following - time <= gapMs) return;
    const localGapMs = gapAfterMs(columns, next, gapMs);
    if (following - time > localGapMs) cursor.breakAt = at + localGapMs / 2;
  } else {
    pushCells(line, undefined, undefined, undefined);
  }
}

function pushCells({ values, lows, highs }: JoinedLine, value: Cell, low: Cell, high: Cell): void {
  values.push(value);
  lows.push(low);
  highs.push(high);
}
