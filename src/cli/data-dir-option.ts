/** The option that names the data on which a command works. */
export const dataDirOption = [
  '--data-dir <path>',
  'data directory, instead of KIPIMO_DATA_DIR or KIPIMO_DATABASE_URL',
] as const;
