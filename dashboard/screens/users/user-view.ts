import type { Query } from '../../api/query-text.ts';

/** Which accounts the list shows. */
export const shows = ['all', 'never', 'month', 'quarter', 'year', 'admins', 'locked'] as const;
export type Show = (typeof shows)[number];

/** The choices of the list; the address keeps them while an account is shown. */
export interface UserView {
  readonly text: string;
  readonly show: Show;
  readonly pages: number;
}

/** Days without a login, for those who are inactive. */
export const inactiveDays: Partial<Record<Show, number>> = { month: 30, quarter: 90, year: 365 };

const usersPerPage = 50;
/** As many as the service hands out at once: a longer list is narrowed. */
const usersMax = 1_000;
const dayMs = 86_400_000;

/** The view that an address asks for. */
export function readView({ text = '', show, pages }: Readonly<Record<string, string>>): UserView {
  const count = Math.trunc(Number(pages));
  return {
    text,
    show: shows.find((one) => one === show) ?? 'all',
    pages: count > 1 ? Math.min(count, usersMax / usersPerPage) : 1,
  };
}

/** The address of a view. */
export function viewPath({ text, show, pages }: UserView): string {
  const params = new URLSearchParams();
  if (text !== '') params.set('text', text);
  if (show !== 'all') params.set('show', show);
  if (pages > 1) params.set('pages', String(pages));
  const query = params.toString();
  return query === '' ? '/users' : `/users?${query}`;
}

/** The query that asks the service for a view; days begin at midnight, UTC. */
export function queryOf({ text, show, pages }: UserView, now: number): Query {
  const days = inactiveDays[show];
  const today = Math.floor(now / dayMs) * dayMs;
  return {
    limit: pages * usersPerPage,
    text,
    ...(show === 'never' && { logged_in: 'false' }),
    ...(show === 'admins' && { role: 'admin' }),
    ...(show === 'locked' && { disabled: 'true' }),
    ...(days !== undefined && { inactive_since: new Date(today - days * dayMs).toISOString() }),
  };
}

/** Whether a longer list of this view may be asked for. */
export const mayBeLonger = ({ pages }: UserView): boolean => pages * usersPerPage < usersMax;
