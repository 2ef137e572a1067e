declare global {
  // Written by the script in the head of the page, which the build tells it.
  var kipimoLaterStyles: string | undefined;
}

let asked: Promise<void> | undefined;

/** Resolves when the styles that home does without are there. Rejects when they cannot be fetched. */
export function laterStyles(): Promise<void> {
  asked ??= new Promise<void>((resolve, reject) => {
    const href = globalThis.kipimoLaterStyles;
    if (href === undefined) return resolve();
    const found = document.querySelector<HTMLLinkElement>(`link[href="${href}"]`);
    // It is there already where the screen at the address of the page wants it.
    if (found?.sheet != null) return resolve();
    const link = found ?? document.createElement('link');
    link.addEventListener('load', () => resolve(), { once: true });
    link.addEventListener(
      'error',
      () => {
        link.remove();
        asked = undefined;
        reject(new Error('the styles could not be fetched'));
      },
      { once: true },
    );
    if (found === null) {
      link.rel = 'stylesheet';
      link.href = href;
      document.head.append(link);
    }
  });
  return asked;
}
