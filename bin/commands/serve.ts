import type { ArgumentsCamelCase } from 'yargs'
import { allowAddonsIn } from '../../lib/assets.ts'
import { CannotStart, exitCodes } from '../../lib/exit.ts'
import { createServer, type Server } from '../../lib/server/create.ts'
import { reachableUrls } from '../../lib/server/edge/listen/reachable-urls.ts'
import { typed } from '../../lib/wrapper/home/own-process.ts'
import { note, processTerminal, tell } from '../../lib/wrapper/terminal/terminal.ts'
import { separateCertificates } from '../certificates.ts'
import { openSecret } from '../config-file.ts'
import { drainOnSignal } from '../drain.ts'
import { readServerOptions, serverOptions } from '../server-options.ts'
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
  const [url, ...others] = reachableUrls(server.url)
  console.log(`afield listening on ${url}`)
  for (const other of others) console.log(`                 and ${other}`)
  tell(processTerminal(), whatNext(server.publicUrl ?? url, server.setupCode, options.data))
  if (options.signup === 'open') note('Anyone who can reach this server can create an account. Change that with --signup.')
}

// Thrown here, it ends the program with its exit code.
async function stopBroken(server: Server, reason: Error): Promise<never> {
  await server.close().catch(() => {})
  throw new CannotStart(`Stopped because storage failed: ${reason.message}`, exitCodes.storage, { cause: reason })
}

function whatNext(url: string, setupCode: Server['setupCode'], data: string): string {
  return `
${firstAccount(url, setupCode)}${setupCode ? `\nTo restore a backup instead, stop this server and run: ${typed('restore')} <backup> --data ${data}` : ''}
Then, on the computer where your agents work:
  ${typed('login')} --server ${url}
  ${typed('demo')}      a scripted agent, to try everything
  ${typed('claude')}    Claude Code`
}

// Anyone with the code can become the owner: only a terminal shows it, a log gets its location.
function firstAccount(url: string, setupCode: Server['setupCode']): string {
  if (!setupCode) return `Open ${url} on your phone or in a browser.`
  if (process.stdout.isTTY) return `Open ${url}/#setup=${setupCode.code} in a browser to create your account.`
  return `Open ${url} in a browser to create your account. The setup code is in ${setupCode.file}`
}
