import { appendPrivateFile, readPrivateFile } from './private-files.ts'

/** Files that the agent changed in one session, by whichever process of it: a command that runs one of them is looked at by a person. */
export interface EditedFiles {
  /** From the root on. */
  readonly paths: ReadonlySet<string>
  /** On disk when it returns; throws when that is not so, and then they are known to this process alone. */
  add(paths: readonly string[]): void
}

/** `path`: of the file they are kept in, a line each. */
export function openEditedFiles(path: string): EditedFiles {
  const paths = new Set((readPrivateFile(path) ?? '').split('\n').flatMap(readLine))
  return {
    paths,
    add(more) {
      const fresh = [...new Set(more)].filter(each => !paths.has(each))
      if (fresh.length === 0) return
      for (const each of fresh) paths.add(each)
      // The line end comes first, so that what follows a torn line is a line of its own.
      appendPrivateFile(path, fresh.map(each => `\n${JSON.stringify(each)}`).join(''))
    }
  }
}

function readLine(line: string): string[] {
  try {
    const path: unknown = JSON.parse(line)
    return typeof path === 'string' ? [path] : []
  } catch {
    return []
  }
}
