import { statfsSync } from 'node:fs'
import { CannotStart } from '../../lib/exit.ts'

/** By the numbers of Linux. Their locks and syncs are not those of a disk, and a write-ahead log needs both. */
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
  throw new CannotStart(`${directory} is on a network disk (${name}), which cannot keep a database safe; name a directory of this machine.`)
}

function systemKind(directory: string): number {
  // Other systems number them in other ways.
  return process.platform === 'linux' ? statfsSync(directory).type : 0
}
