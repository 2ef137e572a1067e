/** What is counted, in the order of the report. */
export const kinds = [
  'gateways',
  'devices',
  'sensors',
  'actuators',
  'projects',
  'notifications',
  'values',
] as const;
export type Kind = (typeof kinds)[number];

export interface Count {
  readonly copied: number;
  readonly already: number;
  readonly skipped: number;
}

/** Counts what became of things. */
export interface Tally {
  copied(kind: Kind, count?: number): void;
  /** Was there before. */
  already(kind: Kind, count?: number): void;
  /** Could not be copied, and why. */
  skipped(kind: Kind, name: string, reason: string, count?: number): void;
  /** Was copied, and lacks something. */
  noted(kind: Kind, name: string, sentence: string): void;
  /** Was not asked for: belongs to others. */
  leftOut(): void;
  /** Belongs to another than at home. */
  adopted(): void;
  report(): CloudReport;
}

export interface CloudReport {
  readonly counts: Readonly<Record<Kind, Count>>;
  /** Devices and the like that belong to others, and were not asked for. */
  readonly leftOut: number;
  /** Things whose owner could not be kept. */
  readonly adopted: number;
}

export function createTally(onSkipped: (sentence: string) => void): Tally {
  const counts = Object.fromEntries(
    kinds.map((kind) => [kind, { copied: 0, already: 0, skipped: 0 }]),
  ) as Record<Kind, { copied: number; already: number; skipped: number }>;
  let leftOut = 0;
  let adopted = 0;
  return {
    copied(kind, count = 1) {
      counts[kind].copied += count;
    },
    already(kind, count = 1) {
      counts[kind].already += count;
    },
    skipped(kind, name, reason, count = 1) {
      counts[kind].skipped += count;
      onSkipped(`${kind} ${name}: ${reason}`);
    },
    noted: (kind, name, sentence) => onSkipped(`${kind} ${name}: ${sentence}`),
    leftOut() {
      leftOut += 1;
    },
    adopted() {
      adopted += 1;
    },
    report: () => ({ counts, leftOut, adopted }),
  };
}
