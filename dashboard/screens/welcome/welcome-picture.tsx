import type { JSX } from 'preact';

/** Draws what Kipimo is for: a tank and a sensor in a field, and their values on a phone. */
export function WelcomePicture(): JSX.Element {
  return (
    <svg class="welcome-picture" viewBox="0 0 320 172" aria-hidden="true">
      <path
        fill="var(--brand-soft)"
        d="M0 146c60-18 120 2 180-4s100-10 140-4v28a6 6 0 0 1-6 6H6a6 6 0 0 1-6-6z"
      />
      <path fill="var(--series-1)" d="M26 112h52v30a6 6 0 0 1-6 6H32a6 6 0 0 1-6-6z" />
      <g fill="none" stroke-width="3" stroke-linecap="round" stroke-linejoin="round">
        <rect x="26" y="86" width="52" height="62" rx="6" stroke="var(--ink-quiet)" />
        <path
          stroke="var(--fresh)"
          d="M104 150v-24m0 8c-10-2-13-8-13-15 9 1 13 7 13 15zm0-8c10-2 13-8 13-15-9 1-13 7-13 15z"
        />
        <path stroke="var(--ink-quiet)" d="M144 150V96" />
        <path stroke="var(--series-2)" d="M166 76q8 9 0 18m9-26q16 17 0 34m9-42q24 25 0 50" />
      </g>
      <rect x="130" y="74" width="28" height="24" rx="5" fill="var(--brand)" />
      <rect
        x="206"
        y="5"
        width="92"
        height="160"
        rx="13"
        fill="var(--surface)"
        stroke="var(--ink)"
        stroke-width="4"
      />
      <text x="219" y="48" fill="var(--ink)" font-size="22" font-weight="700">
        24 °C
      </text>
      <g fill="none" stroke-width="3" stroke-linecap="round" stroke-linejoin="round">
        <path stroke="var(--alert)" stroke-dasharray="1 7" d="M220 72h64" />
        <path stroke="var(--series-1)" d="M220 112c10 0 12-30 24-30s12 22 20 22 12-26 20-34" />
        <path stroke="var(--line-strong)" d="M220 130h64m-64 14h38" />
      </g>
    </svg>
  );
}
