import { closeSync, openSync, readSync } from 'node:fs'

const journalMagic = Buffer.from('d9d505f920a163d7', 'hex')

/**
 * Whether a database was being created when its program ended: the rollback journal next to it says
 * that there were no pages before. Rolling back that creation leaves an empty file, so no data can be
 * lost.
 */
export function isUnfinishedCreation(file: string): boolean {
  const header = Buffer.alloc(20)
  let journal: number
  try {
    journal = openSync(`${file}-journal`, 'r')
  } catch {
    return false
  }
  try {
    const length = readSync(journal, header, 0, header.length, 0)
    return length === header.length && header.subarray(0, 8).equals(journalMagic) && header.readUInt32BE(16) === 0
  } finally {
    closeSync(journal)
  }
}
