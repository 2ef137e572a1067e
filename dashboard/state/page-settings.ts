import { settingsText } from './token-life.ts';

/** What the service tells the page about itself, in a meta tag of index.html. */
export interface PageSettings {
  readonly version: string;
  readonly signup: 'open' | 'closed';
  /** Whether anybody may push to a public device; absent: anybody may. */
  readonly publicPush?: 'open' | 'granted';
  /** Where MQTT over TCP listens. */
  readonly mqttPort: number;
  /** Base layer of maps, with {z}/{x}/{y}; absent: the outline that comes with the app. */
  readonly tileUrl?: string;
  readonly tileAttribution?: string;
  /** Whom to ask for a new password. */
  readonly contact?: string;
}

const defaults: PageSettings = {
  version: '',
  signup: 'open',
  mqttPort: 1883,
};

/** Reads the settings from the text of the tag; what is missing or odd takes its default. */
export function readPageSettings(text: string | null | undefined): PageSettings {
  if (text === null || text === undefined) return defaults;
  try {
    const given: unknown = JSON.parse(text);
    if (typeof given !== 'object' || given === null) return defaults;
    const { version, signup, publicPush, mqttPort, ...texts } = given as Record<string, unknown>;
    const { tileUrl, tileAttribution, contact } = texts;
    return {
      version: typeof version === 'string' ? version : '',
      signup: signup === 'closed' ? 'closed' : 'open',
      mqttPort: typeof mqttPort === 'number' && mqttPort > 0 ? mqttPort : 1883,
      ...(publicPush === 'granted' && { publicPush }),
      ...(typeof tileUrl === 'string' && { tileUrl }),
      ...(typeof tileAttribution === 'string' && { tileAttribution }),
      ...(typeof contact === 'string' && { contact }),
    };
  } catch {
    return defaults;
  }
}

let known: PageSettings | undefined;

/** The settings of this page. */
export function pageSettings(): PageSettings {
  known ??= readPageSettings(settingsText());
  return known;
}
