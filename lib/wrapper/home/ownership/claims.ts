import { createHash } from 'node:crypto'
import { linkSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CannotStart } from '../../../exit.ts'
import { makePrivateFolder, readPrivateFile, writePrivateFile } from '../private-files.ts'
import { ownerOf, ownName } from './process-name.ts'

/**
 * Gives one conversation of an agent to this process alone, before its agent starts on it. Of several processes that want it
 * at once at most one gets it; the others throw CannotStart. Returns how to let it go; a process that dies lets it go too.
 */
export function claimConversation(home: string, conversation: string): () => void {
  const folder = join(home, 'claims')
  makePrivateFolder(folder)
  const key = createHash('sha256').update(conversation).digest('hex').slice(0, 32)
  refuseHeld(readClaims(folder, key))
  // Each claim outbids those of dead processes, and a number is given once: who reads the same wants the same number.
  const number = 1 + Math.max(0, ...readClaims(folder, key).map(claim => claim.number))
  const own = join(folder, `${key}.${number}`)
  const draft = `${own}@${ownName()}`
  writePrivateFile(draft, `@${ownName()}`)
  try {
    linkSync(draft, own)
  } catch {
    throw new CannotStart('Another process goes on with this conversation since just now.')
  } finally {
    rmSync(draft, { force: true })
  }
  const letGo = () => rmSync(own, { force: true })
  const others = readClaims(folder, key).filter(claim => claim.file !== own)
  try {
    refuseHeld(others)
  } catch (error) {
    letGo()
    throw error
  }
  for (const { file } of others) rmSync(file, { force: true })
  return letGo
}

interface Claim {
  file: string
  number: number
  /** The process that holds it, if that one still runs. */
  owner: number | undefined
}

function readClaims(folder: string, key: string): Claim[] {
  return readdirSync(folder).flatMap(name => {
    const number = Number(new RegExp(`^${key}\\.(\\d+)$`).exec(name)?.[1])
    const file = join(folder, name)
    return Number.isNaN(number) ? [] : [{ file, number, owner: ownerOf(readPrivateFile(file) ?? '') }]
  })
}

function refuseHeld(claims: readonly Claim[]): void {
  const held = claims.find(({ owner }) => owner !== undefined)
  if (held) throw new CannotStart(`A session goes on with this conversation right now, as process ${held.owner}.`)
}
