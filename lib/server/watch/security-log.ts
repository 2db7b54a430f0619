import { closeSync, fstatSync, openSync, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'
import { pino } from 'pino'
import type { Clock } from '../../async/clock.ts'
import { every } from '../../async/every.ts'
import { CannotStart } from '../../exit.ts'
import type { FailureCode } from '../../protocol/wire/failures.ts'
import { type Logger, noteOf } from './log.ts'

/** What was rejected: only words of our own tables, and the address. */
interface Rejection {
  /** Of the client, in the form of `readAddress`. */
  address: string
  /** A row of the table of routes, or `socket`; never the requested path. */
  route: string
  code: FailureCode
}

/** A file with one line for each rejected attempt, for people and for programs such as fail2ban. */
export interface SecurityLog {
  /** Ignores what has nothing to do with security. Never blocks or throws. */
  rejected(rejection: Rejection): void
  close(): Promise<void>
}

/** What happened, by what the client was told; docs/operations.md lists them, and the filter of fail2ban reads them. */
export const securityEvents: Partial<Record<FailureCode, string>> = {
  'bad-signature': 'sign-in-failed',
  'bad-public-key': 'sign-in-failed',
  'bad-nonce': 'sign-in-failed',
  'device-unknown': 'sign-in-failed',
  'wrong-origin': 'sign-in-failed',
  'legacy-login-off': 'sign-in-failed',
  'login-held': 'sign-in-failed',
  'bad-token': 'token-rejected',
  'setup-code-required': 'sign-up-rejected',
  'setup-locked': 'sign-up-rejected',
  'signup-closed': 'sign-up-rejected',
  'signup-pending': 'sign-up-rejected',
  'invite-required': 'sign-up-rejected',
  'invite-not-found': 'sign-up-rejected',
  'pairing-not-found': 'pairing-rejected',
  'pairing-answered': 'pairing-rejected',
  'legacy-pairing-off': 'pairing-rejected',
  'legacy-keys-off': 'pairing-rejected',
  'too-many-requests': 'rate-limited',
  'scope-missing': 'access-denied',
  'owner-only': 'access-denied',
  'wrong-host': 'request-rejected',
  'token-in-address': 'request-rejected',
  'ambiguous-request': 'request-rejected'
}

/** Lines a second, so that a flood cannot fill the disk, and one address cannot hide the others. */
const mostLines = { inAll: 200, ofAddress: 20 }
/** Of lines that are not on disk yet. */
const mostWaitingBytes = 256 * 1024
const lookEveryMs = 2_000

/** Throws CannotStart if the file cannot be written. */
export function openSecurityLog(file: string, { clock, now, log }: { clock: Clock; now: () => number; log: Logger }): SecurityLog {
  tryFile(file)
  const out = pino.destination({ dest: file, sync: false, mode: 0o600, maxLength: mostWaitingBytes })
  // Missing in its types; below zero until it is open.
  const handles = out as typeof out & { fd: number }
  let isFailing = false
  let closing: Promise<void> | undefined
  let omitted = 0
  let windowEndsAt = 0
  let lines = 0
  const linesByAddress = new Map<string, number>()

  const fails = (error: unknown) => {
    // A full disk: what waits is written with the next line after that.
    if (!isFailing) log.error({ error: noteOf(error) }, 'The security log cannot be written')
    isFailing = true
  }
  out.on('error', fails)
  out.on('write', () => {
    isFailing = false
  })
  out.on('drop', () => {
    omitted += 1
  })
  const write = (text: string) => void out.write(`${new Date(now()).toISOString()} ${text}\n`)

  function startWindow(at: number): void {
    windowEndsAt = at + 1000
    lines = 0
    linesByAddress.clear()
    const count = omitted
    omitted = 0
    if (count === 0) return
    write(`omitted ${count} events, which were too many`)
    // There was no room for this line either.
    if (omitted > 0) omitted = count
  }

  /** Whether a program that rotates logs has moved the file away. */
  async function look(): Promise<void> {
    const handle = await open(file, 'a', 0o600)
    try {
      if (handles.fd >= 0 && !isSame(await handle.stat(), fstatSync(handles.fd))) out.reopen()
    } finally {
      await handle.close()
    }
  }
  const looking = every(clock, lookEveryMs, look, fails)

  async function end(): Promise<void> {
    await looking.close()
    const { promise, resolve } = Promise.withResolvers<void>()
    out.once('close', resolve)
    // What cannot be written now never will be.
    out.once('error', () => out.destroy())
    out.end()
    await promise
  }

  return {
    rejected({ address, route, code }) {
      const event = securityEvents[code]
      if (event === undefined || closing) return
      const at = clock.now()
      if (at >= windowEndsAt) startWindow(at)
      const ofAddress = linesByAddress.get(address) ?? 0
      if (lines >= mostLines.inAll || ofAddress >= mostLines.ofAddress) {
        omitted += 1
        return
      }
      lines += 1
      linesByAddress.set(address, ofAddress + 1)
      write(`${event} from ${address || '-'}, ${code}, ${route}`)
    },
    close() {
      closing ??= end()
      return closing
    }
  }
}

function tryFile(file: string): void {
  try {
    closeSync(openSync(file, 'a', 0o600))
  } catch (error) {
    throw new CannotStart(
      `The security log ${file} cannot be written. Let the server's user write there, or choose another --security-log.`,
      undefined,
      {
        cause: error
      }
    )
  }
}

function isSame(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.dev === other.dev
}
