/** The text in which the service tells the page about itself. */
export const settingsText = (): string | null | undefined =>
  document.querySelector('meta[name="kipimo-settings"]')?.getAttribute('content');

/** Reads from that text how long a token lives; ten minutes where it does not say. */
export function readTokenLifeMs(text: string | null | undefined): number {
  try {
    const seconds: unknown = JSON.parse(text ?? '')?.tokenLifeSeconds;
    if (typeof seconds === 'number' && seconds > 0) return seconds * 1_000;
  } catch {
    // As without a word of it.
  }
  return 600_000;
}

/** How long a token of this service lives: the one setting that the first reads need. */
export const tokenLifeMs = (): number => readTokenLifeMs(settingsText());
