import type { dictionary as english } from './en/dictionary.ts';
import type { Message, PluralMessage } from './messages.ts';

type English = typeof english;

/** The screens that have texts. */
export type Section = keyof English;

/** Every text by its name: "home.title". */
export type MessageKey = {
  [S in Section]: `${S}.${Extract<keyof English[S], string>}`;
}[Section];

/** Any text in any form, by section and name; what `t` looks up in. */
export type MessageTable = Readonly<Record<string, Readonly<Record<string, Message>>>>;

/**
 * Sections being written: until their screens are settled, what a language lacks shows in English.
 * A section leaves this list when it is translated; the list is empty in a release.
 */
export const draftSections = [] as const;

type DraftSection = (typeof draftSections)[number];

/** The texts of one section in another language: a missing or a surplus one is a type error. */
export type Translation<S extends Section> = {
  readonly [K in keyof English[S]]: English[S][K] extends string
    ? English[S][K] extends `${string}{count}${string}`
      ? Message
      : string
    : PluralMessage;
};

/** A whole language. */
export type Dictionary = {
  readonly [S in Exclude<Section, DraftSection>]: Translation<S>;
} & { readonly [S in Extract<Section, DraftSection>]?: Partial<Translation<S>> };
