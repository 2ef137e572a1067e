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

const perCheckMax = 10;

export const restoreBackup =
  'Restore a backup made before it happened, and have disk and memory of the machine tested.';

export const deleteAside =
  'Restore a backup to have them back, or delete them from the table to do without.';

/** Collects findings; of one check a few, and then how many more there are. */
export type Findings = ReturnType<typeof createFindings>;

/** Begins without any finding. */
export function createFindings() {
  const byCheck = new Map<string, { readonly kept: Finding[]; count: number }>();

  const adding =
    (level: FindingLevel) =>
    (check: string, sentence: string, remedy = restoreBackup): void => {
      const of = byCheck.get(check) ?? { kept: [], count: 0 };
      byCheck.set(check, of);
      of.count += 1;
      if (of.kept.length < perCheckMax) of.kept.push({ level, check, sentence, remedy });
    };

  function summary({ kept, count }: { readonly kept: readonly Finding[]; count: number }) {
    const [first] = kept;
    if (first === undefined || count <= perCheckMax) return kept;
    return [...kept, { ...first, sentence: `… and ${count - perCheckMax} more like these.` }];
  }

  return {
    damage: adding('damage'),
    warn: adding('warning'),
    note: adding('note'),
    all(): readonly Finding[] {
      const order: readonly FindingLevel[] = ['damage', 'warning', 'note'];
      return [...byCheck.values()]
        .flatMap(summary)
        .toSorted((one, other) => order.indexOf(one.level) - order.indexOf(other.level));
    },
  };
}
