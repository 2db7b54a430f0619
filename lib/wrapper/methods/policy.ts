import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import * as z from 'zod'
import { readPrivateFile } from '../private-files.ts'

const policy = z.looseObject({
  /** Where the phone may begin sessions and look around; else everything below the person's home. */
  folders: z.array(z.string().refine(isAbsolute, 'not an absolute path')).optional(),
  /** Whether a session may run shell commands for the phone, in its own folder; unless told, it may. */
  shell: z.boolean().optional()
})

export interface Policy {
  folders: readonly string[]
  hasShell: boolean
}

/** What `policy.json` in the wrapper's home says. Read anew each time: a change counts at once. Throws when it cannot be read. */
export function readPolicy(home: string): Policy {
  const text = readPrivateFile(join(home, 'policy.json'))
  if (text === undefined) return { folders: [homedir()], hasShell: true }
  const { data } = policy.safeParse(parse(text))
  if (!data) throw new Error('The policy file of this computer cannot be read, so nothing is allowed.')
  return { folders: data.folders ?? [homedir()], hasShell: data.shell ?? true }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
