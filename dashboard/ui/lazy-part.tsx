import type { ComponentType, JSX } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { pauseMs } from '../state/recovery.ts';

/**
 * A part whose code is fetched when it is first shown: `room` stands there until then. What cannot
 * be fetched is asked for again, after growing pauses.
 */
export function lazily<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  room: () => JSX.Element | null = () => null,
): (props: Props) => JSX.Element | null {
  let loaded: ComponentType<Props> | undefined;
  return function LazyPart(props) {
    const [Found, setFound] = useState(() => loaded);
    const [attempt, setAttempt] = useState(0);
    useLayoutEffect(() => {
      if (Found !== undefined) return;
      let isCurrent = true;
      let timer: ReturnType<typeof setTimeout> | undefined;
      load()
        .then((part) => {
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
