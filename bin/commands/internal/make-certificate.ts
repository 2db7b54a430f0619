import { json } from 'node:stream/consumers'
import type { Argv } from 'yargs'
import { ownCertificates } from '../../../lib/server/https/own-certificates.ts'
import type { CertificateTask } from '../../certificates.ts'

export function builder(line: Argv): Argv {
  return line
}

export async function handler(): Promise<void> {
  const task = (await json(process.stdin)) as CertificateTask
  const ending = new AbortController()
  process.once('SIGTERM', () => ending.abort(new Error('Interrupted.')))
  const pem = 'order' in task ? await ownCertificates.order(task.order, ending.signal) : await ownCertificates.placeholder(task.placeholder)
  process.stdout.write(pem)
}
