import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/** The file of a command, which may be given as its whole path; otherwise searched in the PATH like a shell does. */
export function findProgram(name: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (isAbsolute(name)) return isProgram(name) ? name : undefined
  const folders = (env['PATH'] ?? env['Path'] ?? '').split(delimiter).filter(folder => folder !== '')
  const endings = process.platform === 'win32' ? ['.exe', '.cmd', '.bat'] : ['']
  for (const folder of folders) {
    for (const ending of endings) {
      const file = join(folder, name + ending)
      if (isProgram(file)) return file
    }
  }
  return undefined
}

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
