import type { ArgumentsCamelCase } from 'yargs'
import { allowAddonsIn } from '../../lib/assets.ts'
import { CannotStart, exitCodes } from '../../lib/exit.ts'
import { createServer, type Server } from '../../lib/server/create.ts'
import { reachableUrls } from '../../lib/server/edge/listen/reachable-urls.ts'
import { note, processTerminal, tell } from '../../lib/wrapper/terminal/terminal.ts'
import { separateCertificates } from '../certificates.ts'
import { openSecret } from '../config-file.ts'
import { drainOnSignal } from '../drain.ts'
import { firstSteps } from '../first-steps.ts'
import { readServerOptions, serverOptions } from '../server-options.ts'
import { startWarnings } from '../start-warnings.ts'
import { takeBackupOf } from '../take-backup.ts'
import { unknownSettings } from '../unknown-settings.ts'

export const builder = serverOptions

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  for (const unknown of unknownSettings(process.env)) note(unknown)
  const { options, file } = readServerOptions(args)
  const warning = file && openSecret(file)
  if (warning !== undefined) note(warning)
  allowAddonsIn(options.data)
  const server = await createServer({
    ...options,
    takeBackup: takeBackupOf(options),
    certificates: separateCertificates,
    tell: sentences => tell(processTerminal(), sentences)
  })
  drainOnSignal(() => server.close())
  void server.broken.then(reason => stopBroken(server, reason))
  await server.addressed
  const terminal = processTerminal()
  terminal.write(`${firstSteps(server, options, terminal)}\n`)
  for (const warning of startWarnings(options, server.publicUrl ?? reachableUrls(server.url)[0], Date.now())) note(warning)
  if (options.signup === 'open') note('Anyone who can reach this server can create an account. Change that with --signup.')
}

// Thrown here, it ends the program with its exit code.
async function stopBroken(server: Server, reason: Error): Promise<never> {
  await server.close().catch(() => {})
  throw new CannotStart(`Stopped because storage failed: ${reason.message}`, exitCodes.storage, { cause: reason })
}
