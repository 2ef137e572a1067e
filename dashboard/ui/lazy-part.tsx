import type { ComponentType, JSX } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { type Reach, wordsFor } from '../i18n/i18n.ts';
import { pauseMs } from '../state/recovery.ts';

/**
 * A part whose code is fetched when it is first shown, and the words it says where they are not
 * those of home: `room` stands there until then. What cannot be fetched is asked for again, after
 * growing pauses.
 */
export function lazily<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  room: () => JSX.Element | null = () => null,
  reach?: Reach,
): (props: Props) => JSX.Element | null {
  let loaded: ComponentType<Props> | undefined;
  return function LazyPart(props) {
    const [Found, setFound] = useState(() => loaded);
    const [attempt, setAttempt] = useState(0);
    useLayoutEffect(() => {
      if (Found !== undefined) return;
      let isCurrent = true;
      let timer: ReturnType<typeof setTimeout> | undefined;
      Promise.all([load(), reach && wordsFor(reach)])
        .then(([part]) => {
          loaded = part;
          if (isCurrent) setFound(() => part);
        })
        .catch(() => {
          if (isCurrent) timer = setTimeout(() => setAttempt(attempt + 1), pauseMs(attempt));
        });
      return () => {
        isCurrent = false;
        clearTimeout(timer);
      };
    }, [Found, attempt]);
    return Found === undefined ? room() : <Found {...props} />;
  };
}
