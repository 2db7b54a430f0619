import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { CannotStart } from '../../../exit.ts'
import * as v from '../../../schema.ts'
import { readPrivateFile, writePrivateFile } from '../../home/private-files.ts'

const policy = v.looseObject({
  /** Where the phone may start sessions and list folders; by default everything below the person's home directory. */
  folders: v.optional(v.array(v.pipe(v.string(), v.check(isAbsolute, 'is not an absolute path')))),
  /** Whether a session may run shell commands for the phone, in its own folder; by default it may. */
  shell: v.optional(v.boolean()),
  /** After how long a session started from a phone ends without messages; by default never. */
  idleHours: v.optional(v.pipe(v.number(), v.gtValue(0)))
})

interface Policy {
  folders: readonly string[]
  hasShell: boolean
  idleHours?: number | undefined
}

/** The content of `policy.json` in the wrapper's home. Read each time, so a change applies immediately. Throws if it cannot be read. */
export function readPolicy(home: string): Policy {
  const text = readPrivateFile(join(home, 'policy.json'))
  if (text === undefined) return { folders: [homedir()], hasShell: true }
  const { data } = v.safeParse(policy, v.jsonOf(text))
  if (!data) throw new Error('The policy file of this computer cannot be read, so nothing is allowed.')
  return {
    folders: data.folders ?? [homedir()],
    hasShell: data.shell ?? true,
    ...(data.idleHours !== undefined && { idleHours: data.idleHours })
  }
}

/** Replaces the folders; the rest of the file stays. Throws CannotStart if it cannot be read. */
export function writeFolders(home: string, change: (folders: readonly string[]) => readonly string[]): readonly string[] {
  const file = join(home, 'policy.json')
  const text = readPrivateFile(file)
  const { data } = v.safeParse(policy, text === undefined ? {} : v.jsonOf(text))
  if (!data) throw new CannotStart(`${file} cannot be read. Fix it, or remove it: then everything below your home directory is allowed.`)
  const folders = change(data.folders ?? [homedir()])
  writePrivateFile(file, `${JSON.stringify({ ...data, folders }, undefined, 2)}\n`)
  return folders
}
