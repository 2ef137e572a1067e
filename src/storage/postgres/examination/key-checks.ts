import type { Checks } from '../../examination/checks.ts';

/** Tables that are walked row by row instead: they may be of any size. */
const walked = ['chunks'];

const selectKeys = `
  select conrelid::regclass::text as child, confrelid::regclass::text as parent,
    (select array_agg(quote_ident(attname) order by place) from unnest(conkey)
      with ordinality as key (number, place)
      join pg_attribute on attrelid = conrelid and attnum = number)::text[] as own,
    (select array_agg(quote_ident(attname) order by place) from unnest(confkey)
      with ordinality as key (number, place)
      join pg_attribute on attrelid = confrelid and attnum = number)::text[] as others
  from pg_constraint
  where contype = 'f' and connamespace = current_schema()::regnamespace
    and conrelid::regclass::text <> all ($1)
  order by 1, 2`;

interface KeyRow {
  readonly child: string;
  readonly parent: string;
  readonly own: readonly string[];
  readonly others: readonly string[];
}

/** Whether rows belong to rows that are there, also where the server was set not to check. */
export async function checkKeys({ session, findings, pace, reasonOf }: Checks): Promise<void> {
  const told = (sentence: string): void => findings.damage('orphans', sentence);
  for (const key of await session.all<KeyRow>(selectKeys, walked)) {
    const { child, parent } = key;
    try {
      const found = await session.first<{ n: number }>(countOrphans(key));
      if (found !== undefined && found.n > 0) {
        told(
          `${found.n} rows of the table ${child} belong to rows of ${parent} that are not there.`,
        );
      }
    } catch (error) {
      told(`The table ${child} cannot be held against ${parent}: ${reasonOf(error)}.`);
    }
    await pace();
  }
}

function countOrphans({ child, parent, own, others }: KeyRow): string {
  const columns = own.map((name) => `child.${name}`);
  const same = others.map((name, at) => `parent.${name} = ${columns[at]}`).join(' and ');
  const isSet = columns.map((name) => `${name} is not null`).join(' and ');
  return `
    select count(*) as n from ${child} as child
    where ${isSet} and not exists (select 1 from ${parent} as parent where ${same})`;
}
