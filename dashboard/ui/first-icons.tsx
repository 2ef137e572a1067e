import type { JSX } from 'preact';

/** The line drawings of the navigation and of home; always beside a word. */
export const firstDrawings = {
  home: 'M3 11 12 4l9 7M5.5 9.5V20h13V9.5M10 20v-6h4v6',
  map: 'M9 4 3 6.5V20l6-2.5 6 2.5 6-2.5V4l-6 2.5zM9 4v13.5M15 6.5V20',
  alerts: 'M6 16V11a6 6 0 0 1 12 0v5l1.5 2h-15zM10 21h4',
  more: 'M4 7h16M4 12h16M4 17h16',
  gateways:
    'M12 14v6M8 20h8M12 14a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM7.8 16.2a6 6 0 0 1 0-8.4' +
    'M16.2 7.8a6 6 0 0 1 0 8.4M5 19A10 10 0 0 1 5 5M19 5a10 10 0 0 1 0 14',
  projects: 'M3 6h6l2 2h10v11H3z',
  sharing:
    'M8.5 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2 20c0-4 3-6 6.5-6s6.5 2 6.5 6' +
    'M16 4.5a3.5 3.5 0 0 1 0 6.5M18 14.5c2.5.7 4 2.5 4 5.5',
  profile: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-4.5 3.5-7 8-7s8 2.5 8 7',
  usage: 'M4 20V10 M10 20V4 M16 20v-7 M21 20H3',
  users:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20c0-4 3-6 6.5-6s6.5 2 6.5 6M17 8h5M19.5 5.5v5',
  messages: 'M4 5h16v11H10l-5 4v-4H4z',
  plus: 'M12 5v14M5 12h14',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l5 5',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  alert: 'M12 4 2.5 20h19zM12 10v5M12 17.5v.2',
  tune:
    'M4 8h10M18 8h2M16 8m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0M4 16h2M10 16h10' +
    'M8 16m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0',
} as const;

/** A drawing of the first load, for the eye alone; the word beside it says the same. */
export function FirstIcon({ name }: { readonly name: keyof typeof firstDrawings }): JSX.Element {
  return <Drawing path={firstDrawings[name]} />;
}

export function Drawing({ path }: { readonly path: string }): JSX.Element {
  return (
    <svg
      viewBox="0 0 24 24"
      width="1.25rem"
      height="1.25rem"
      fill="none"
      stroke="currentColor"
      stroke-width="1.8"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={path} />
    </svg>
  );
}
