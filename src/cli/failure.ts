import { ConfigError } from '../config/config.ts';

/** Describes an error in sentences for the person at the terminal. */
export function sentencesOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.problems;
  if (!(error instanceof Error)) return [String(error)];
  return [fileSentence(error) ?? error.message];
}

/** Sentences for what Node says in codes. */
const fileProblems: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such file or directory'],
  ['ENOTDIR', 'a part of the path is no directory'],
  ['EISDIR', 'it is a directory'],
  ['ERR_FS_EISDIR', 'it is a directory'],
  ['EEXIST', 'there is a file of that name'],
  ['EACCES', 'this user may not open it'],
  ['EPERM', 'this user may not do that with it'],
  ['ENOSPC', 'the disk is full'],
  ['EROFS', 'its file system cannot be written to'],
]);

function fileSentence(error: Error): string | undefined {
  const { code, path, syscall } = error as NodeJS.ErrnoException;
  const problem = code === undefined ? undefined : fileProblems.get(code);
  // Errors of reads do not name the file.
  const place = path ?? (syscall === 'read' ? 'the file' : undefined);
  return problem === undefined || place === undefined ? undefined : `${place}: ${problem}`;
}
