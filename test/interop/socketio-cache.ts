import { createRequire } from 'node:module'
import { join } from 'node:path'
import type * as socketIo from 'socket.io-client'
import { publishedFolder } from '../kit/published.ts'

/** The last release of each minor version of the client. */
export const clientVersions = ['4.0.2', '4.1.3', '4.2.0', '4.3.2', '4.4.1', '4.5.4', '4.6.2', '4.7.5', '4.8.4'] as const

export type ClientLibrary = typeof socketIo

/** The library of that version in the folder of `test/kit/published.ts`, or undefined when it is not there. */
export function loadClient(version: string): ClientLibrary | undefined {
  try {
    return createRequire(join(publishedFolder, 'package.json'))(aliasOf(version))
  } catch {
    return undefined
  }
}

function aliasOf(version: string): string {
  return `socket.io-client-${version}`
}
