import { existsSync, readdirSync } from 'node:fs'
import type { ServerOptions } from '../options.ts'
import { examineCertificate } from './certificate.ts'
import { examineDirectory, examineSpace } from './disk.ts'
import type { Finding } from './finding.ts'
import { examineAddress, examinePush } from './network.ts'
import { examineDatabase, examineServer, findServing } from './store.ts'

/** Checks everything that commonly goes wrong with a server, in order of dependency. */
export async function examine(options: ServerOptions, now: () => number): Promise<Finding[]> {
  const directory = examineDirectory(options.data)
  const stored = existsSync(options.data)
    ? [examineSpace(options.data), await examineDatabase(options), ...(await examineServer(options))]
    : []
  const serving = await findServing(options.data)
  const [address, push] = await Promise.all([examineAddress(options, serving, now), examinePush(options)])
  const own = options.tlsCert === undefined ? [] : [examineCertificate(options.tlsCert, now())]
  // Check the file, which is served next; behind a proxy, check what is served now.
  const shown = address.filter(({ of }) => own.length === 0 || of !== 'certificate')
  return [directory, ...stored, ...shown, ...own, push]
}

/** Whether a server was ever started on the directory. */
export function keepsData({ data }: Pick<ServerOptions, 'data'>): boolean {
  // A refused restore leaves a lock.
  return existsSync(data) && namesIn(data).some(name => !name.endsWith('.lock'))
}

/** Why an unreadable directory is unreadable is reported elsewhere. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return ['unreadable']
  }
}
