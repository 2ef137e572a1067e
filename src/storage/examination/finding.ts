/**
 * damage: something that was stored is not what it was. warning: it will become a trouble, or is
 * known to be one. note: worth knowing.
 */
export type FindingLevel = 'damage' | 'warning' | 'note';

/** A problem or a fact that an examination found. */
export interface Finding {
  readonly level: FindingLevel;
  /** Which check found it. */
  readonly check: string;
  readonly sentence: string;
  /** The action to take, as one sentence. */
  readonly remedy: string;
}

/** Collects findings; of one check a few, and then how many more there are. */
export interface Findings {
  add(finding: Finding): void;
  all(): readonly Finding[];
}

const perCheckMax = 10;

export const restoreBackup =
  'Restore a backup made before it happened, and have disk and memory of the machine tested.';

/** None yet. */
export function createFindings(): Findings {
  const byCheck = new Map<string, { readonly kept: Finding[]; count: number }>();

  function summary({ kept, count }: { readonly kept: readonly Finding[]; count: number }) {
    const [first] = kept;
    if (first === undefined || count <= perCheckMax) return kept;
    return [...kept, { ...first, sentence: `… and ${count - perCheckMax} more like these.` }];
  }

  return {
    add(finding) {
      const of = byCheck.get(finding.check) ?? { kept: [], count: 0 };
      byCheck.set(finding.check, of);
      of.count += 1;
      if (of.kept.length < perCheckMax) of.kept.push(finding);
    },
    all() {
      const order: readonly FindingLevel[] = ['damage', 'warning', 'note'];
      return [...byCheck.values()]
        .flatMap(summary)
        .toSorted((one, other) => order.indexOf(one.level) - order.indexOf(other.level));
    },
  };
}
