import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { formatAge, formatDate } from '../i18n/formats.ts';
import { language, t } from '../i18n/i18n.ts';
import { now } from '../state/clock.ts';

/** Whether exact times are told: making the format for them would delay the first picture. */
const isExact = signal(false);
const firstPictureMs = 1_000;

/** How long ago something was; the exact time on hover and for assistive technology. */
export function Age({ at }: { readonly at: number | undefined }): JSX.Element {
  // A value that came after the last tick of the clock is not from the future.
  const text = formatAge(at, at === undefined ? now.value : Math.max(now.value, at), t);
  useEffect(() => {
    if (isExact.peek()) return;
    const timer = setTimeout(() => {
      isExact.value = true;
    }, firstPictureMs);
    return () => clearTimeout(timer);
  }, []);
  if (at === undefined) return <span class="age">{text}</span>;
  const exact = isExact.value
    ? formatDate(at, { language: language.value, style: 'precise' })
    : undefined;
  return (
    <time class="age" dateTime={new Date(at).toISOString()} title={exact}>
      {text}
    </time>
  );
}
