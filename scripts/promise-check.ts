import { relative } from 'node:path';
import {
  type CallExpression,
  type Node,
  NodeFlags,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast';
import {
  isBinaryExpression,
  isBlock,
  isCallExpression,
  isConditionalExpression,
  isDoStatement,
  isExpressionStatement,
  isForStatement,
  isFunctionLikeDeclaration,
  isIdentifier,
  isIfStatement,
  isNewExpression,
  isParenthesizedExpression,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isReturnStatement,
  isTryStatement,
  isVariableStatement,
  isWhileStatement,
} from 'typescript/unstable/ast/is';
import { API, type Checker, SignatureKind, type Type, TypeFlags } from 'typescript/unstable/sync';

// What Biome's noFloatingPromises and noMisusedPromises look for, by the types of the compiler:
// Biome knows neither the types of packages and of Node nor promises under a `!` or an `&&`.

type Mistake =
  | 'nobody waits for it'
  | 'a promise is always true'
  | 'the caller waits for nothing'
  | 'what it needs is closed before';

/** A promise that nobody waits for, at a line of a file. */
export interface LosePromise {
  readonly place: string;
  readonly what: Mistake;
}

/** Looks through the files of a project, those of packages left out. `configFile`: its tsconfig. */
export function findLosePromises(configFile: string): readonly LosePromise[] {
  const api = new API();
  try {
    const snapshot = api.updateSnapshot({ openProjects: [configFile] });
    const project = snapshot.getProject(configFile);
    if (project === undefined) throw new Error(`${configFile} is no project`);
    const { program, checker } = project;
    const types = createTypes(checker);
    return program.getSourceFileNames().flatMap((name) => {
      const file = program.getSourceFile(name);
      if (file === undefined || name.endsWith('.d.ts')) return [];
      if (program.isSourceFileFromExternalLibrary(file)) return [];
      return findInFile(file, checker, types);
    });
  } finally {
    api.close();
  }
}

/** Questions about types, answered once for each. */
interface Types {
  isPromise(type: Type): boolean;
  /** Also where it may be something else than a promise. */
  mayBePromise(type: Type): boolean;
  /** A function that answers a promise. */
  isAsync(type: Type): boolean;
  /** A function of which nobody looks at the answer. */
  answersNothing(type: Type): boolean;
}

function createTypes(checker: Checker): Types {
  const known = new Map<string, boolean>();
  const once = (name: string, ask: (type: Type) => boolean) => (type: Type) => {
    const key = `${name} ${type.id}`;
    const answer = known.get(key) ?? ask(type);
    known.set(key, answer);
    return answer;
  };
  const partsOf = (type: Type): readonly Type[] => {
    try {
      return type.isUnionType() ? type.getTypes() : [type];
    } catch {
      return [];
    }
  };
  // Not whatever has a `then`: a Fastify reply has one for who wants to wait for its end.
  const isOne = once('promise', (type) => type.getSymbol()?.name === 'Promise');
  const answersOf = (type: Type): readonly (Type | undefined)[] =>
    checker
      .getSignaturesOfType(type, SignatureKind.Call)
      .map((signature) => checker.getReturnTypeOfSignature(signature));
  return {
    isPromise: (type) => partsOf(type).some(isOne) && partsOf(type).every(isOne),
    mayBePromise: (type) => partsOf(type).some(isOne),
    isAsync: once('async', (type) =>
      partsOf(type)
        .flatMap(answersOf)
        .some((answer) => answer !== undefined && partsOf(answer).some(isOne)),
    ),
    answersNothing: once('nothing', (type) => {
      const answers = partsOf(type).flatMap(answersOf);
      const isNothing = (answer: Type | undefined) =>
        answer !== undefined && (answer.flags & TypeFlags.Void) !== 0;
      return answers.length > 0 && answers.every(isNothing);
    }),
  };
}

/** Expressions whose type decides, by what it must not be. */
interface Asked {
  readonly statements: Node[];
  readonly conditions: Node[];
  /** What is handed to somebody else. */
  readonly handed: Node[];
  /** What is answered from under a `using` or a `finally`: what these end is needed until then. */
  readonly returned: Node[];
}

function findInFile(file: SourceFile, checker: Checker, types: Types): readonly LosePromise[] {
  const asked: Asked = { statements: [], conditions: [], handed: [], returned: [] };
  gather(file, asked);
  const typesOf = (nodes: readonly Node[]) => typesAt(nodes, checker);
  const found: LosePromise[] = [];
  const tell = (node: Node, what: Mistake): void => {
    const line = file.text.slice(0, node.getStart(file)).split('\n').length;
    found.push({ place: `${relative(process.cwd(), file.fileName)}:${line}`, what });
  };
  const statements = typesOf(asked.statements);
  for (const [index, node] of asked.statements.entries()) {
    const type = statements[index];
    if (type !== undefined && types.mayBePromise(type)) tell(node, 'nobody waits for it');
  }
  const conditions = typesOf(asked.conditions);
  for (const [index, node] of asked.conditions.entries()) {
    const type = conditions[index];
    if (type !== undefined && types.isPromise(type)) tell(node, 'a promise is always true');
  }
  const returned = typesOf(asked.returned);
  for (const [index, node] of asked.returned.entries()) {
    const type = returned[index];
    if (type !== undefined && types.mayBePromise(type))
      tell(node, 'what it needs is closed before');
  }
  const handed = typesOf(asked.handed);
  for (const [index, node] of asked.handed.entries()) {
    const type = handed[index];
    if (type === undefined || !types.isAsync(type)) continue;
    const wanted = checker.getContextualType(node as never);
    if (wanted !== undefined && types.answersNothing(wanted)) {
      tell(node, 'the caller waits for nothing');
    }
  }
  return found;
}

/** The compiler's API fails for some tuples, which are no promises: then one is asked for alone. */
function typesAt(nodes: readonly Node[], checker: Checker): readonly (Type | undefined)[] {
  if (nodes.length === 0) return [];
  try {
    return checker.getTypeAtLocation(nodes);
  } catch {
    if (nodes.length === 1) return [undefined];
    const middle = Math.ceil(nodes.length / 2);
    return [...typesAt(nodes.slice(0, middle), checker), ...typesAt(nodes.slice(middle), checker)];
  }
}

function gather(node: Node, asked: Asked): void {
  if (isExpressionStatement(node)) {
    if (!isAssignment(node.expression) && !isHandled(node.expression)) {
      asked.statements.push(node.expression);
    }
  } else if (isIfStatement(node) || isWhileStatement(node) || isDoStatement(node)) {
    asked.conditions.push(node.expression);
  } else if (isForStatement(node)) {
    if (node.condition !== undefined) asked.conditions.push(node.condition);
  } else if (isConditionalExpression(node)) {
    asked.conditions.push(node.condition);
  } else if (isPrefixUnaryExpression(node)) {
    if (node.operator === SyntaxKind.ExclamationToken) asked.conditions.push(node.operand);
  } else if (isBinaryExpression(node)) {
    if (isLogical(node.operatorToken.kind)) asked.conditions.push(node.left);
  } else if (isCallExpression(node) || isNewExpression(node)) {
    // What is awaited may well wait for what it was handed.
    const isAwaited = node.parent.kind === SyntaxKind.AwaitExpression;
    for (const argument of node.arguments ?? []) if (!isAwaited) asked.handed.push(argument);
  } else if (isPropertyAssignment(node)) {
    asked.handed.push(node.initializer);
  } else if (isReturnStatement(node) && node.expression !== undefined) {
    if (endsSomething(node)) asked.returned.push(node.expression);
  }
  node.forEachChild((child) => gather(child, asked));
}

/** Whether a `using` or a `finally` around it ends something as soon as the function answers. */
function endsSomething(statement: Node): boolean {
  let node = statement;
  while (!isFunctionLikeDeclaration(node)) {
    const { parent } = node;
    if (isTryStatement(parent) && parent.finallyBlock !== undefined) {
      if (node !== parent.finallyBlock) return true;
    }
    const before = isBlock(parent) ? parent.statements : [];
    if (before.some((one) => one.end <= node.pos && isUsing(one))) return true;
    node = parent;
  }
  return false;
}

/** A `using` or an `await using`. */
const isUsing = (node: Node): boolean =>
  isVariableStatement(node) && (node.declarationList.flags & NodeFlags.Using) !== 0;

const isLogical = (kind: SyntaxKind): boolean =>
  kind === SyntaxKind.AmpersandAmpersandToken || kind === SyntaxKind.BarBarToken;

const runnersOfTests: ReadonlySet<string> = new Set(['test', 'describe']);

function isAssignment(node: Node): boolean {
  if (!isBinaryExpression(node)) return false;
  const { kind } = node.operatorToken;
  return kind >= SyntaxKind.FirstAssignment && kind <= SyntaxKind.LastAssignment;
}

/** Whether somebody takes care of it: `catch`, both halves of `then`, or the runner of tests. */
function isHandled(node: Node): boolean {
  if (isParenthesizedExpression(node)) return isHandled(node.expression);
  if (isCallExpression(node) && isIdentifier(node.expression)) {
    return runnersOfTests.has(node.expression.text);
  }
  if (!isCallExpression(node) || !isPropertyAccessExpression(node.expression)) return false;
  const { expression: of, name } = node.expression;
  const { length } = (node as CallExpression).arguments;
  if (name.text === 'catch') return length > 0;
  if (name.text === 'then') return length > 1;
  return name.text === 'finally' && isHandled(of);
}
