import type { DeviceFilter } from '../../api/device-query.ts';

/** Cards say more of each device, lines show more devices. */
export type Look = 'cards' | 'lines';

/** What the list shows; it is in the address, so that back works and a list can be sent on. */
export interface View extends Omit<DeviceFilter, 'owner' | 'ids'> {
  readonly whose: 'mine' | 'shared' | 'all';
  /** Absent: as it was chosen last. */
  readonly look?: Look;
  /** Pages of cards that were asked for; absent: one. */
  readonly pages?: number;
}

/** A longer list is one of lines. */
const pagesMax = 20;

/** The view an address asks for. */
export function readView(query: Readonly<Record<string, string>>): View {
  const { text, whose, domain, gateway, visibility, look, pages } = query;
  const count = Math.min(pagesMax, Math.trunc(Number(pages)));
  return {
    whose: whose === 'shared' || whose === 'all' ? whose : 'mine',
    ...(isGiven(text) && { text }),
    ...(isGiven(domain) && { domain }),
    ...(isGiven(gateway) && { gateway }),
    ...((visibility === 'public' || visibility === 'private') && { visibility }),
    ...((look === 'cards' || look === 'lines') && { look }),
    ...(count > 1 && { pages: count }),
  };
}

const isGiven = (text: string | undefined): text is string => text !== undefined && text !== '';

/** The address of a view. */
export function viewPath({ whose, ...filter }: View): string {
  const params = new URLSearchParams();
  if (whose !== 'mine') params.set('whose', whose);
  for (const [name, value] of Object.entries(filter)) {
    if (value !== undefined && value !== '') params.set(name, String(value));
  }
  const text = params.toString();
  return text === '' ? '/' : `/?${text}`;
}

/** Whether anything but whose devices these are narrows the view. */
export function isNarrowed({ text, domain, gateway, visibility }: View): boolean {
  return [text, domain, gateway, visibility].some((value) => value !== undefined);
}
