import type { SocialStore } from '../../domain/socials/social-store.ts';
import { type SocialRow, socialColumns, socialFromRow, socialToRow } from '../sql/social-row.ts';
import { readSafely } from './failures.ts';
import { createSelection, found, inSnapshot } from './selection.ts';
import type { StoreContext } from './store-context.ts';

const selectSocial = `select ${socialColumns} from socials where id = ?`;
const selectPage = `select ${socialColumns} from socials order by position limit ? offset ?`;
const countAll = 'select count(*) as n from socials';
const selectPageOf = `
  select ${socialColumns} from socials where sender = ? or recipient = ?
  order by position limit ? offset ?`;
const countOf = 'select count(*) as n from socials where sender = ? or recipient = ?';

/** Social messages in SQLite. */
export function createSocialStore({ reader, writer, damaged }: StoreContext): SocialStore {
  const social = createSelection<SocialRow>(reader, selectSocial);
  const page = createSelection<SocialRow>(reader, selectPage);
  const count = createSelection<{ n: number }>(reader, countAll);
  const pageOf = createSelection<SocialRow>(reader, selectPageOf);
  const countOfUser = createSelection<{ n: number }>(reader, countOf);

  const read = (row: SocialRow) => damaged.read('socials', row.id, () => socialFromRow(row));

  return {
    insert: (created) => writer.call('insertSocials', created.map(socialToRow)),
    find: (id) => readSafely(() => found(social.first(id), read)),
    list: ({ ofUser, limit, offset }) =>
      readSafely(() =>
        inSnapshot(reader, () => {
          const [rows, total] =
            ofUser === undefined
              ? [page.all(limit, offset), count.first()]
              : [pageOf.all(ofUser, ofUser, limit, offset), countOfUser.first(ofUser, ofUser)];
          return { socials: rows.flatMap((row) => read(row) ?? []), total: total?.n ?? 0 };
        }),
      ),
    remove: (id) => writer.call('removeSocial', id),
  };
}
