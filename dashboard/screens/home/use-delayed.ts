import { useEffect, useRef, useState } from 'preact/hooks';

const typingMs = 250;

/** Asks the service when the typing pauses, not at each letter. */
export function useDelayed(text: string, onText: (text: string) => void) {
  const [typed, setTyped] = useState(text);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const tell = useRef(onText);
  tell.current = onText;
  useEffect(() => setTyped(text), [text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (next: string): void => {
    setTyped(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => tell.current(next.trim()), typingMs);
  };
  return { typed, type };
}
