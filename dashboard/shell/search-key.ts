import { useEffect } from 'preact/hooks';

/** How long a screen may take to show its search after the key. */
const waitMsMax = 5_000;

const searchField = 'main input[type=search]';

/** Ctrl+K, or Cmd+K, goes to the search of this screen; where there is none, to that of home. */
export function useSearchKey(route: (path: string) => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      const isSearch = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
      if (!isSearch || event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      if (focusSearch()) return;
      route('/');
      const end = performance.now() + waitMsMax;
      const look = (): void => {
        if (!focusSearch() && performance.now() < end) requestAnimationFrame(look);
      };
      look();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, [route]);
}

/** Whether the search has the focus, which a new screen then leaves there. */
export const isSearching = (): boolean => document.activeElement?.matches(searchField) === true;

function focusSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>(searchField);
  if (field === null || document.querySelector('dialog[open]') !== null) return false;
  field.focus();
  field.select();
  return document.activeElement === field;
}
