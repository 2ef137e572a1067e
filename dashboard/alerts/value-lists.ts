const operandSource = "(?:'(?:[^']|'')*'|[^\\s,;'<>=!]+)";
const listed = new RegExp(
  `(?<![<>])(?:==?|!=)\\s*(${operandSource}(?:\\s*,\\s*${operandSource})+)`,
  'g',
);

/** The lists of values in an expression: `T == 8,5` holds at 8 and at 5. */
export const listsOf = (expression: string): readonly (readonly string[])[] =>
  [...expression.matchAll(listed)].map(([, list = '']) =>
    list.split(/\s*,\s*(?=(?:[^']*'[^']*')*[^']*$)/),
  );
