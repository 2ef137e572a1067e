/** Whether a topic may be published to: it names one topic, and so holds no wildcard. */
export function isTopicName(topic: string): boolean {
  return topic !== '' && !topic.includes('+') && !topic.includes('#');
}

/** Whether a filter is well-formed: + stands for a whole level, # only at the end. */
export function isTopicFilter(filter: string): boolean {
  if (filter === '') return false;
  if (!filter.includes('+') && !filter.includes('#')) return true;
  const levels = filter.split('/');
  return levels.every(
    (level, index) =>
      level === '+' ||
      (level === '#' && index === levels.length - 1) ||
      !(level.includes('+') || level.includes('#')),
  );
}

/** Levels of a topic or filter: one more than it has slashes. */
export function countLevels(topic: string): number {
  let count = 1;
  for (let at = topic.indexOf('/'); at !== -1; at = topic.indexOf('/', at + 1)) count += 1;
  return count;
}

/** Takes $share/{group}/{filter} apart; undefined: it is not shared; 'invalid': it is wrong. */
export function readSharedFilter(text: string) {
  if (!text.startsWith('$share/')) return text === '$share' ? 'invalid' : undefined;
  const slash = text.indexOf('/', 7);
  if (slash === -1) return 'invalid';
  const group = text.slice(7, slash);
  const filter = text.slice(slash + 1);
  if (!isTopicName(group) || !isTopicFilter(filter)) return 'invalid';
  return { group, filter };
}
