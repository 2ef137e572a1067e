import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';

/** A part of a screen under its title, rendered and read when it is opened. */
export function Fold(props: {
  readonly title: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  const { title, children } = props;
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="surface fold" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && (
        <section class="stack" aria-label={title}>
          {children}
        </section>
      )}
    </details>
  );
}
