import { pino } from 'pino'
import type { LogLevel } from '../../options.ts'

/** The server's log. A pino logger fits. */
export interface Logger {
  error(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  debug(fields: LogFields, message: string): void
  isLevelEnabled(level: 'error' | 'warn' | 'info' | 'debug'): boolean
}

/**
 * Everything that a line may contain besides its message: nothing here accepts a token, a key, an address
 * or client data.
 */
export interface LogFields {
  requestId?: string
  /** A row of the table of routes, such as `GET /v1/push-tokens/:token`; never the requested path. */
  route?: string
  event?: string
  status?: number | 'gone'
  ms?: number
  /** By how much a clock was changed. */
  byMs?: number
  port?: number
  /** Of the schema of the database. */
  from?: number
  to?: number
  /** Of a directory, as chmod takes it. */
  mode?: string
  count?: number
  tokens?: number
  devices?: number
  pushTokens?: number
  error?: ErrorNote
}

/** What is reported for an unexpected error. */
interface ErrorNote {
  name: string
  says: string
  code?: string
  at: string[]
  cause?: ErrorNote
}

/** Lines of JSON on standard error, or text for a person at a terminal. */
export function openLogger(level: LogLevel): Logger {
  const out = pino.destination({ fd: process.stderr.fd, sync: true })
  const options = {
    level,
    base: null,
    messageKey: 'message',
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) }
  }
  return pino(options, process.stderr.isTTY ? { write: line => out.write(forPerson(line)) } : out)
}

/**
 * What may be logged of any error. A message can repeat invalid input, so anything that looks like a secret
 * is removed.
 */
export function noteOf(error: unknown, depth = 0): ErrorNote {
  if (!(error instanceof Error)) return { name: 'Unknown', says: '', at: [] }
  const code: unknown = 'code' in error ? error.code : undefined
  return {
    name: error.name,
    says: withoutSecrets(error),
    ...(typeof code === 'string' && { code }),
    at: (error.stack ?? '').split('\n').flatMap(line => /^ {4}at (.*)$/.exec(line)?.[1] ?? []),
    ...(error.cause !== undefined && depth < 3 && { cause: noteOf(error.cause, depth + 1) })
  }
}

const secretShapes = /afield1-[^\s"'`,]+|Expo(?:nent)?PushToken\[[^\]]*\]|\bBearer\s+\S+|[A-Za-z0-9+/_-]{40,}={0,2}/g

function withoutSecrets(error: Error): string {
  // A parser quotes what it was given.
  const text = error instanceof SyntaxError ? error.message.replace(/["'`].*["'`]/s, '"…"') : error.message
  return text.replace(secretShapes, '[secret]')
}

function forPerson(line: string): string {
  const { time, level, message, error, ...fields }: Record<string, unknown> = JSON.parse(line)
  const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${String(value)}`)
  return `${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${String(message)}${pairs.join('')}\n${error ? traceOf(error) : ''}`
}

function traceOf(note: object): string {
  const { name, says, at, cause } = note as ErrorNote
  return `${[`${name}: ${says}`, ...at].join('\n    at ')}\n${cause ? `because of ${traceOf(cause)}` : ''}`
}
