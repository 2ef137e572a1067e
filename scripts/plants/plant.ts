import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BudgetName } from '../../src/domain/budgets/budget-table.ts';

/** A mend that is taken out of a copy of the sources, and the test that has to notice. */
export interface Plant {
  /** The promise that ends with it; docs/security.md has it where strangers gain by its end. */
  readonly name: string;
  /** Where its test is. */
  readonly file: string;
  /** A part of the name of the test. */
  readonly test: string;
  /** What the test says when it fails: by the attack, not because a machine was busy. */
  readonly says: RegExp;
  /** What an honest client accepts, where four times the usual hides the attack. */
  readonly servedMs?: number;
  /** Settings of its test. */
  readonly environment?: Readonly<Record<string, string>>;
  /** This budget has no end. */
  readonly budget?: BudgetName;
  /** Texts of the sources that are replaced; each must be there once. */
  readonly patches?: readonly Patch[];
}

export interface Patch {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const endless = (budget: BudgetName): Patch => ({
  file: 'src/domain/budgets/budgets.ts',
  from: 'scaled(budgetTable[name], totals[name])',
  to: `scaled(budgetTable[name], name === '${budget}' ? 2 ** 50 : totals[name])`,
});

/** Another text instead of one. */
export const patch = (file: string, from: string, to: string): Patch => ({ file, from, to });

/** Another value of a limit. */
export const limit = (from: string, to: string, file = 'src/domain/limits.ts'): Patch =>
  patch(file, `  ${from},\n`, `  ${to},\n`);

/** The files that a plant changes, by path, with their new texts. Throws when a patch fits not. */
export function plantedFiles(root: string, { budget, patches = [] }: Plant): Map<string, string> {
  const changed = new Map<string, string>();
  const all = budget === undefined ? patches : [endless(budget), ...patches];
  for (const { file, from, to } of all) {
    const parts = (changed.get(file) ?? readFileSync(join(root, file), 'utf8')).split(from);
    if (parts.length !== 2) throw new Error(`${file} has "${from}" ${parts.length - 1} times`);
    changed.set(file, parts.join(to));
  }
  return changed;
}

/** What hinders a plant: a patch that is not found once, or a test that is not. */
export function complaintsAbout(root: string, plant: Plant): readonly string[] {
  const complaints: string[] = [];
  const tell = (what: string) => complaints.push(`${plant.name}: ${what}`);
  try {
    if (plantedFiles(root, plant).size === 0) tell('takes nothing out');
    const names = namesOfTests(readFileSync(join(root, plant.file), 'utf8'));
    const found = names.filter((name) => name.includes(plant.test)).length;
    if (found !== 1) tell(`${plant.file} has ${found} tests named "${plant.test}"`);
  } catch (error) {
    tell((error as Error).message);
  }
  return complaints;
}

const namesOfTests = (text: string): readonly string[] =>
  [...text.matchAll(/^\s*(?:test|durable|embedded|browserTest)\(\s*(['"`])(.*?)\1,/gm)].map(
    (match) => match[2] ?? '',
  );
