import { statfsSync } from 'node:fs'
import { CannotStart } from '../../lib/exit.ts'

/** Linux numbers. A WAL needs locks and syncs as reliable as those of a local disk, and these file systems do not have them. */
const nameByKind = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x01021997, '9p'],
  [0x5346414f, 'AFS']
])

export function refuseNetworkDisk(directory: string, kindOf: (directory: string) => number = systemKind): void {
  const name = nameByKind.get(kindOf(directory))
  if (name === undefined) return
  throw new CannotStart(
    `${directory} is on a network disk (${name}), which cannot keep a database safe; choose a directory on a local disk.`
  )
}

function systemKind(directory: string): number {
  // Other systems use other numbers.
  return process.platform === 'linux' ? statfsSync(directory).type : 0
}
