import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import type { ArgumentsCamelCase, Argv } from 'yargs'

/** Passes on a hook that Claude Code can only give to a command. */
export function builder(line: Argv): Argv {
  return line.positional('relay', { type: 'string', demandOption: true })
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const { url, token }: { url: string; token: string } = JSON.parse(readFileSync(String(args['relay']), 'utf8'))
  const headers = { authorization: `Bearer ${token}` }
  // The wrapper may be gone: then nobody wants to know.
  await fetch(url, { method: 'POST', headers, body: await text(process.stdin) }).catch(() => {})
}
