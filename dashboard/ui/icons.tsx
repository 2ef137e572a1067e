import type { JSX } from 'preact';
import { Drawing, firstDrawings } from './first-icons.tsx';

/** Line drawings for buttons of screens; always beside a word. */
const drawings = {
  ...firstDrawings,
  reference: 'M5 4h11l3 3v13H5zM9 10h6M9 14h6',
  close: 'M6 6l12 12M18 6 6 18',
  back: 'M15 5l-7 7 7 7',
  check: 'M5 12.5 10 17.5 19.5 7',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  download: 'M12 4v11M7 11l5 5 5-5M4 20h16',
  upload: 'M12 16V5M7 9l5-5 5 5M4 20h16',
  share: 'M12 15V4M8 7.5 12 4l4 3.5M5 12v8h14v-8',
  edit: 'M4 20h4L19 9l-4-4L4 16zM13.5 6.5l4 4',
  globe:
    'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM3.5 12h17M12 3c5 5.5 5 12.5 0 18' +
    'M12 3c-5 5.5-5 12.5 0 18',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
  code: 'M8 7l-5 5 5 5M16 7l5 5-5 5',
  qr: 'M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h2v2h-2zM18 18h2v2h-2zM18 14h2M14 18v2',
  logout: 'M10 4H5v16h5M14 8l4 4-4 4M18 12H9',
} as const;

export type IconName = keyof typeof drawings;

/** A drawing for the eye alone; the word beside it says the same. */
export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return <Drawing path={drawings[name]} />;
}
