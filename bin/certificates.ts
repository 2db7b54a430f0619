import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { CannotStart } from '../lib/exit.ts'
import type { CertificateOrder, Certificates } from '../lib/server/https/certificates.ts'
import { ownProgram } from '../lib/wrapper/home/own-process.ts'

/** What this program is given on its standard input to make a certificate. */
export type CertificateTask = { order: CertificateOrder } | { placeholder: string }

/** Runs this same program for each certificate: the library takes 30 MB, which the server would keep for one order in two months. */
export const separateCertificates: Certificates = {
  order: (order, signal) => run({ order }, signal),
  placeholder: name => run({ placeholder: name })
}

async function run(task: CertificateTask, signal?: AbortSignal): Promise<string> {
  const { command, args } = ownProgram(['make-certificate'])
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], signal })
  child.stdin.on('error', () => {})
  child.stdin.end(JSON.stringify(task))
  const [made, said, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  if (code !== 0) throw new CannotStart(said.trim().split('\n').at(-1) || `Making a certificate ended with code ${code}.`)
  return made
}
