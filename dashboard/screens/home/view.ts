import type { DeviceFilter } from '../../api/device-query.ts';

/** What the list shows; it is in the address, so that back works and a list can be sent on. */
export interface View extends Omit<DeviceFilter, 'owner' | 'ids'> {
  readonly whose: 'mine' | 'shared' | 'all';
}

/** The view an address asks for. */
export function readView(query: Readonly<Record<string, string>>): View {
  const { text, whose, domain, gateway, visibility } = query;
  return {
    whose: whose === 'shared' || whose === 'all' ? whose : 'mine',
    ...(isGiven(text) && { text }),
    ...(isGiven(domain) && { domain }),
    ...(isGiven(gateway) && { gateway }),
    ...((visibility === 'public' || visibility === 'private') && { visibility }),
  };
}

const isGiven = (text: string | undefined): text is string => text !== undefined && text !== '';

/** The address of a view. */
export function viewPath({ whose, ...filter }: View): string {
  const params = new URLSearchParams();
  if (whose !== 'mine') params.set('whose', whose);
  for (const [name, value] of Object.entries(filter)) {
    if (typeof value === 'string' && value !== '') params.set(name, value);
  }
  const text = params.toString();
  return text === '' ? '/' : `/?${text}`;
}

/** Whether anything but whose devices these are narrows the view. */
export function isNarrowed({ text, domain, gateway, visibility }: View): boolean {
  return [text, domain, gateway, visibility].some((value) => value !== undefined);
}
