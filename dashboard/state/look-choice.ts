const storageKey = 'kipimo.look';

/** How devices were shown last. */
export function readLook(): 'cards' | 'lines' {
  try {
    return localStorage.getItem(storageKey) === 'lines' ? 'lines' : 'cards';
  } catch {
    // Storage may be forbidden; the address has the choice as well.
    return 'cards';
  }
}

export function writeLook(look: 'cards' | 'lines'): void {
  try {
    localStorage.setItem(storageKey, look);
  } catch {
    // As above.
  }
}
