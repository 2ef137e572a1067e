/** A level of a tree of topics or of filters. */
export interface TopicNode<Value> {
  children: Map<string, TopicNode<Value>> | undefined;
  /** The value of the topic or filter that ends here. */
  value: Value | undefined;
}

/** The node of a topic, with those above it; makes the ones that are missing. */
export function nodeAt<Value>(root: TopicNode<Value>, levels: readonly string[]): TopicNode<Value> {
  let node = root;
  for (const level of levels) {
    node.children ??= new Map();
    let next = node.children.get(level);
    if (next === undefined) {
      next = { children: undefined, value: undefined };
      node.children.set(level, next);
    }
    node = next;
  }
  return node;
}

/** The node of a topic; undefined: the tree has none. */
export function findNode<Value>(
  root: TopicNode<Value>,
  levels: readonly string[],
): TopicNode<Value> | undefined {
  let node: TopicNode<Value> | undefined = root;
  for (const level of levels) node = node?.children?.get(level);
  return node;
}

/** Forgets the value of a topic, and nodes of its path that have neither value nor children. */
export function forgetNode<Value>(
  node: TopicNode<Value>,
  levels: readonly string[],
  depth = 0,
): void {
  const level = levels[depth];
  if (level === undefined) {
    node.value = undefined;
    return;
  }
  const child = node.children?.get(level);
  if (child === undefined) return;
  forgetNode(child, levels, depth + 1);
  if (child.value === undefined && child.children === undefined) node.children?.delete(level);
  if (node.children?.size === 0) node.children = undefined;
}
