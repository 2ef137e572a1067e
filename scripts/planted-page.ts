import { plants } from './plants/index.ts';

const about = `# Planted faults

<!-- Generated from scripts/plants/ by "npm run docs"; edit those files, not this one. -->

\`npm run planted\` takes one safeguard at a time out of a copy of the sources and expects a test to
fail. A fault that no test notices fails the command. \`-- 'part of a name'\` selects some faults;
\`-- --check\` only tests that each still fits the sources. The table of [security.md](security.md)
says which promises they protect.

| fault: this no longer holds | its test |
|---|---|
`;

/** The page with every planted fault and the test that notices it. */
export const plantedPage = (): string =>
  about + plants.map(({ name, file }) => `| ${name} | \`${file}\` |\n`).join('');
