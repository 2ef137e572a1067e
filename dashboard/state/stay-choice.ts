const key = 'kipimo.stay';

/** Whether somebody wants to stay logged in on this device: as chosen last, else yes. */
export function readStayChoice(): boolean {
  try {
    return localStorage.getItem(key) !== 'no';
  } catch {
    return true;
  }
}

export function writeStayChoice(stays: boolean): void {
  try {
    localStorage.setItem(key, stays ? 'yes' : 'no');
  } catch {
    // Forbidden: asked again next time.
  }
}
