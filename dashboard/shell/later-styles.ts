declare global {
  // Written by the script in the head of the page, which the build tells it.
  var kipimoLaterStyles: string | undefined;
}

let asked: Promise<void> | undefined;

/** Resolves when the styles that home does without are there; rejects when they do not come. */
export function laterStyles(): Promise<void> {
  asked ??= new Promise<void>((resolve, reject) => {
    const href = globalThis.kipimoLaterStyles;
    if (href === undefined) return resolve();
    const link = document.createElement('link');
    link.rel = 'stylesheet';
    link.href = href;
    link.addEventListener('load', () => resolve());
    link.addEventListener('error', () => {
      link.remove();
      asked = undefined;
      reject(new Error('the styles could not be fetched'));
    });
    // Behind those of the first load, which they add to.
    document.head.append(link);
  });
  return asked;
}

/** Fetches them while the app is on its way; they hold once it asks for them. */
export function fetchLaterStyles(href: string): void {
  const link = document.createElement('link');
  link.rel = 'preload';
  link.as = 'style';
  link.href = href;
  document.head.append(link);
}
