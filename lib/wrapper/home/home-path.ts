import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** Where this person's wrapper keeps what it knows: `AFIELD_HOME`, else `~/.afield`. Makes nothing. */
export function homePath(env: Readonly<Record<string, string | undefined>>): string {
  return resolve(env['AFIELD_HOME'] || join(homedir(), '.afield'))
}
